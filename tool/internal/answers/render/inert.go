package render

import "strings"

// inert returns text that Markdown shows as it stands. A page has made it visible before.
func inert(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "www.", "www\\.") // which would be a link
	for i, r := range text {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@': // no mention of a user
			b.WriteString("&#64;")
		case '\\', '`', '*', '_', '{', '}', '[', ']', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '(': // is the address of a link behind a bracket alone
			if strings.HasSuffix(text[:i], "]") {
				b.WriteByte('\\')
			}
			b.WriteByte('(')
		case ')': // ends the number of an item; a link has brackets before
			if before := strings.TrimLeft(text[:i], " "); before != "" && strings.Trim(before, "0123456789") == "" {
				b.WriteByte('\\')
			}
			b.WriteByte(')')
		case ':': // begins no name of a picture and no address: those go on behind it
			if next := text[i+1:]; next == "" || next[0] == ' ' {
				b.WriteByte(':')
			} else {
				b.WriteString("&#58;")
			}
		case '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
