package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// prometheusFiles is where rules and dashboard are.
const prometheusFiles = "../../docs/prometheus"

// queries are those of the dashboard, for all devices.
func queries(t *testing.T) (out []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(prometheusFiles, "cbl1.dashboard.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(b, &dashboard))
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			require.NotEmpty(t, target.Expr)
			out = append(out, strings.ReplaceAll(target.Expr, "$device", ".*"))
		}
	}
	require.NotEmpty(t, out)
	return out
}

// The names in rules and dashboard are names of metrics.
func TestPrometheusFiles(t *testing.T) {
	text := fetch(t, (&exposing{processes: true}).handler(busyStage(t).server), "/metrics")
	names := map[string]bool{"cbl1_device_dispatched_bytes": true, "cbl1_device_tracked_bytes": true, "cbl1_device_tracked_core_peak_bytes": true}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) `).FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	for _, file := range []string{"cbl1.rules.yml", "cbl1.dashboard.json"} {
		b, err := os.ReadFile(filepath.Join(prometheusFiles, file))
		require.NoError(t, err)
		used := regexp.MustCompile(`cbl1_(device|process|odd|leaked)\w+`).FindAllString(string(b), -1)
		require.NotEmpty(t, used)
		for _, name := range slices.Compact(used) {
			require.True(t, names[name], "%s asks for %s", file, name)
		}
		if strings.HasSuffix(file, ".json") {
			require.True(t, json.Valid(b))
		}
	}
}

// promtool accepts the metrics, the rules, and every query of the dashboard; the rules fire
// when they should.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("needs promtool, which is in the package prometheus")
	}
	folder, err := filepath.Abs(prometheusFiles)
	require.NoError(t, err)
	tool := func(in string, args ...string) {
		t.Helper()
		cmd := exec.Command(promtool, args...)
		cmd.Dir, cmd.Stdin = folder, strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "promtool %s\n%s", args, out)
	}
	tool(fetch(t, (&exposing{processes: true}).handler(busyStage(t).server), "/metrics"), "check", "metrics")
	tool("", "check", "rules", "cbl1.rules.yml")
	tool("", "test", "rules", "cbl1.rules.test.yml")

	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, expr := range queries(t) {
		fmt.Fprintf(&rules, "  - record: dashboard:query:%d\n    expr: %q\n", i, expr)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	tool("", "check", "rules", file)
}

// A Prometheus that follows a server has an answer to each query of the dashboard, with the figures
// that the server has, and the rules fire on them.
func TestPrometheus(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("needs prometheus, which is in the package of that name")
	}
	s := busyStage(t)
	s.fleet(t, `{"event":"log","version":1,"fleet":"training"}
{"event":"device","device":1,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":1300000,"address":111616}]}
{"event":"enqueue","program":1}
{"event":"enqueue","program":9}
`)
	web := httptest.NewServer((&exposing{processes: true}).handler(s.server))
	defer web.Close()
	dir := t.TempDir()
	rules, err := os.ReadFile(filepath.Join(prometheusFiles, "cbl1.rules.yml"))
	require.NoError(t, err)
	rules = regexp.MustCompile(`(?m)^ +for: .*\n`).ReplaceAll(rules, nil) // nobody waits for minutes
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.yml"), fmt.Appendf(nil, "global: {scrape_interval: 2s, evaluation_interval: 200ms}\nrule_files: [rules.yml]\nscrape_configs:\n- job_name: cbl1\n  static_configs: [{targets: [%q]}]\n", strings.TrimPrefix(web.URL, "http://")), 0o600))
	cmd := exec.Command(program, "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait() // a signal ended it
	}()
	lines, address := bufio.NewScanner(said), ""
	for address == "" && lines.Scan() {
		if m := regexp.MustCompile(`msg="Listening on" address=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	require.NotEmpty(t, address)
	go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends

	ask := func(query string) map[string]string {
		r, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
		require.NoError(t, err)
		defer func() { _ = r.Body.Close() }()
		var answer struct {
			Status, Error string
			Data          struct {
				Result []struct {
					Metric map[string]string
					Value  [2]any
				}
			}
		}
		if r.StatusCode == http.StatusServiceUnavailable {
			return nil // it begins
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&answer))
		require.Equal(t, "success", answer.Status, "%s: %s", query, answer.Error)
		got := map[string]string{}
		for _, one := range answer.Data.Result {
			m := one.Metric
			got[m["alertname"]+" "+m["fleet"]+"/"+m["device"]] = one.Value[1].(string)
		}
		return got
	}
	comes := func(query string, is func(answer map[string]string) bool) {
		t.Helper()
		var answer map[string]string
		for range testkit.Patience / (50 * time.Millisecond) {
			if answer = ask(query); is(answer) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		require.Fail(t, "another answer", "%s: %v", query, answer)
	}
	for _, query := range queries(t) {
		comes(query, func(answer map[string]string) bool { return len(answer) > 0 })
	}
	for query, want := range map[string]map[string]string{
		"cbl1_device_registered_bytes":     {" /0": "67108864", " /1": "266240", " training/1": "1300000"},
		"cbl1_device_dispatched_bytes":     {" training/1": "1300000"},
		`cbl1_odd_total{code="undefined"}`: {" training/": "1"},
		"cbl1_device_l1_buffer_bytes":      {" /0": "4096", " /1": "0", " /5": "0", " training/1": "0"},
		"ALERTS":                           {"CBL1CoreNearlyFull training/1": "1"},
	} {
		comes(query, func(answer map[string]string) bool { return maps.Equal(answer, want) })
	}
}
