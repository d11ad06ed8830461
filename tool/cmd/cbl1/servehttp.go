package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/cbl1/cbl1/event"
	safe "github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/pictures/page"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// What a client of the HTTP server may take.
const (
	httpHeader  = 5 * time.Second
	httpRequest = 10 * time.Second
	httpAnswer  = time.Minute
	httpIdle    = time.Minute
	httpHead    = 64 << 10 // bytes of a request's head
	httpClients = 2048
	httpRetry   = 100 * time.Millisecond // until a listener that found no descriptor accepts again
)

// exposing holds the options of a server's HTTP side. The zero value exposes nothing.
type exposing struct {
	address   string
	hosts     []string
	anywhere  bool
	processes bool
}

func (in *exposing) options() []option {
	return []option{
		{"http", "serve /metrics, /report, /page and /figures on an address of this machine, like localhost:9117", &in.address},
		{"http-host", "names of this server that requests may have, besides addresses and localhost", &in.hosts},
		{"http-anywhere", "listen also on addresses that other machines reach", &in.anywhere},
		{"http-processes", "metrics of processes, too", &in.processes},
	}
}

// start answers requests until stop is called, of so many connections at once.
func (in *exposing) start(server *serve.Server, errw io.Writer, most int) (stop func(), err error) {
	if in.address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", in.address)
	if err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err == nil && !in.anywhere && !at.Addr().Unmap().IsLoopback() {
		err = fmt.Errorf("%s is for other machines, too: want an address like localhost:9117, or --http-anywhere", in.address)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	clients := &bounded{Listener: listener, free: make(chan struct{}, most), errw: errw}
	web := http.Server{
		Handler: in.handler(server), ConnState: clients.release, MaxHeaderBytes: httpHead,
		ReadHeaderTimeout: httpHeader, ReadTimeout: httpRequest, WriteTimeout: httpAnswer, IdleTimeout: httpIdle,
	}
	fmt.Fprintf(errw, "cbl1: http://%s/metrics\n", listener.Addr())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := web.Serve(clients); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(errw, "cbl1: nothing is answered over HTTP any more: %v\n", err)
		}
	}()
	return func() {
		_ = web.Close() // its readers end
		<-ended
	}, nil
}

// handler answers GET and HEAD of its paths, for known hosts.
func (in *exposing) handler(server *serve.Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		now := server.Snapshot()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(now.AppendMetrics(nil, in.processes)) // an error: the client has gone
	})
	mux.HandleFunc("GET /figures", func(w http.ResponseWriter, r *http.Request) {
		now := server.Snapshot()
		asked := r.URL.Query()
		if id, err := strconv.ParseUint(asked.Get("device"), 10, 64); err == nil {
			now.Detail = server.Detail(asked.Get("fleet"), id)
		}
		b, err := now.AppendJSON(nil)
		respond(w, "application/json", b, err)
	})
	one := make(chan struct{}, 1) // a document of the moment may take long
	document := func(kind string, write func(io.Writer, *answer.Result) error) http.HandlerFunc {
		return func(w http.ResponseWriter, request *http.Request) {
			select {
			case one <- struct{}{}:
			default:
				http.Error(w, "another one is being made", http.StatusServiceUnavailable)
				return
			}
			defer func() { <-one }()
			var b bytes.Buffer
			r, err := moment(server, request.URL.Query().Get("fleet"))
			if err == nil {
				err = write(&b, r)
			}
			respond(w, kind, b.Bytes(), err)
		}
	}
	mux.HandleFunc("GET /report", document("application/json", func(w io.Writer, r *answer.Result) error {
		return render.Report(r, render.Options{}).JSON(w)
	}))
	mux.HandleFunc("GET /page", document("text/html; charset=utf-8", func(w io.Writer, r *answer.Result) error {
		return page.Write(w, []*answer.Result{r}, answer.Terms{}, nil)
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "cbl1 serve answers GET /metrics, /figures, /report and /page\n") // an error: the client has gone
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !in.knows(r.Host) {
			http.Error(w, "this server has another name (--http-host)", http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
		mux.ServeHTTP(w, r)
	})
}

// respond writes a document, or why there is none.
func respond(w http.ResponseWriter, kind string, b []byte, err error) {
	switch {
	case errors.Is(err, serve.ErrNoFleet):
		http.Error(w, safe.Visible(err.Error()), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, safe.Visible(err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b) // an error: the client has gone
}

// moment returns the Result of a log that begins now: of the processes, or of a named fleet.
func moment(server *serve.Server, fleet string) (*answer.Result, error) {
	var log bytes.Buffer
	if err := server.WriteMoment(fleet, &log); err != nil {
		return nil, err
	}
	return replay.Run("now", event.NewLog(&log, "now").Events(), replay.Options{Buffers: true, Groups: true, Timeline: true})
}

// knows reports whether a request names this server: by an address, as localhost, or as was
// said. A page of another site that has its name point here does not.
func (in *exposing) knows(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil || strings.EqualFold(name, "localhost") {
		return true
	}
	for _, known := range in.hosts {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// A bounded listener has so many connections at most: another one waits, also where the system
// has no descriptor for it.
type bounded struct {
	net.Listener
	free chan struct{}
	errw io.Writer
	told bool // that there is no descriptor
}

func (b *bounded) Accept() (net.Conn, error) {
	b.free <- struct{}{}
	for {
		c, err := b.Listener.Accept()
		lacks := serve.Lacking(err)
		switch {
		case err == nil:
			return c, nil
		case lacks == nil:
			<-b.free
			return nil, err
		case !b.told:
			b.told = true
			fmt.Fprintf(b.errw, "cbl1: there is no room for a connection over HTTP: %v\n", lacks)
		}
		time.Sleep(httpRetry)
	}
}

// release gives back the place of a connection, which a server closes once.
func (b *bounded) release(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		<-b.free
	}
}
