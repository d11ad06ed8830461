package testkit

import (
	"fmt"
	"strings"
)

// EventLog returns an event log of events in short, behind a header and the devices 1 and 2: each has cores 0-0 and 1-0,
// and L1 from 1024 to 4096. A line in JSON stays as it stands.
//
//	device ID [WORDS]                                of its spec
//	program ID SIZE[@ADDRESS] CORES [WORDS] [& ...]  CORES: 0-0, or 0-0..1-0,3-0
//	alloc ID KIND [WORDS] @ ADDRESS SIZE CORES [@ ...]
//	EVENT [WORDS]
//
// A word is a member: NAME, or NAME=VALUE. A first word that is a number is the id of a program, buffer or trace.
func EventLog(lines ...string) string {
	var b strings.Builder
	for _, line := range append([]string{`{"event":"log","version":1}`, "device 1", "device 2"}, lines...) {
		if !strings.HasPrefix(line, "{") {
			line = eventOf(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func eventOf(line string) string {
	f := strings.Fields(line)
	event := fmt.Sprintf(`{"event":%q`, f[0])
	switch f[0] {
	case "device":
		return event + fmt.Sprintf(`,"device":%s,"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16%s}}`, f[1], members(f[2:]))
	case "program":
		return event + fmt.Sprintf(`,"program":%s,"name":"p%s","cbs":[%s]}`, f[1], f[1], rows(f[2:], "&", func(cb []string) string {
			size, address, fixed := strings.Cut(cb[0], "@")
			if fixed {
				size += `,"address":` + address
			}
			return fmt.Sprintf(`{"size":%s,"cores":%q%s}`, size, coresOf(cb[1]), members(cb[2:]))
		}))
	case "alloc":
		words, parts, _ := strings.Cut(strings.Join(f[3:], " "), "@")
		return fmt.Sprintf(`{"event":"allocate","buffer":%s,"name":"b%s","kind":%q%s,"parts":[%s]}`, f[1], f[1], f[2], members(strings.Fields(words)), rows(strings.Fields(parts), "@", func(p []string) string {
			return fmt.Sprintf(`{"address":%s,"size":%s,"cores":%q}`, p[0], p[1], coresOf(p[2]))
		}))
	case "free":
		return event + `,"buffer":` + f[1] + members(f[2:]) + "}"
	case "trace_begin", "record", "trace_end", "replay", "release":
		return event + `,"trace":` + f[1] + members(f[2:]) + "}"
	case "op_start", "op_end", "remove", "hybrid", "lockstep", "reset_peaks":
		return event + members(f[1:]) + "}"
	}
	return event + `,"program":` + f[1] + members(f[2:]) + "}"
}

// rows joins what is said of the parts of a list.
func rows(words []string, between string, say func([]string) string) string {
	var out []string
	for part := range strings.SplitSeq(strings.Join(words, " "), " "+between+" ") {
		out = append(out, say(strings.Fields(part)))
	}
	return strings.Join(out, ",")
}

// members returns words as members of an object. Numbers stay, and several are a list; hidden cores are spelled out.
func members(words []string) (out string) {
	for _, word := range words {
		name, value, valued := strings.Cut(word, "=")
		switch {
		case !valued:
			value = "true"
		case name == "devices":
			value = "[" + value + "]"
		case name == "page":
			name, value = "indices", `[{"index":0,"page_size":`+value+`}]`
		case name == "hidden":
			value = fmt.Sprintf("%q", coresOf(value))
		case strings.Trim(value, "0123456789") != "":
			value = fmt.Sprintf("%q", value)
		}
		out += fmt.Sprintf(`,%q:%s`, name, value)
	}
	return out
}

// coresOf returns a set of rectangles as logs spell it.
func coresOf(text string) string {
	var out []string
	for one := range strings.SplitSeq(text, ",") {
		start, end, _ := strings.Cut(one, "..")
		if end == "" {
			end = start
		}
		out = append(out, "["+start+" - "+end+"]")
	}
	return "{" + strings.Join(out, ", ") + "}"
}
