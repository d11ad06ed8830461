package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A JUnit writes checks as test results for a CI: a suite for each file, and in it a case for each question. A
// program run that does not fit is a failure. "Cannot tell" is an error, and so is an unreadable file: neither is
// green.
type JUnit struct {
	w     io.Writer
	begun bool
}

// NewJUnit returns a writer of test results. Its Close ends them.
func NewJUnit(w io.Writer) *JUnit { return &JUnit{w: w} }

// A testCase is one thing that was judged.
type testCase struct {
	XMLName xml.Name  `xml:"testcase"`
	Name    string    `xml:"name,attr"`
	Class   string    `xml:"classname,attr"`
	Failure *testFail `xml:"failure"`
	Error   *testFail `xml:"error"`
	Out     string    `xml:"system-out,omitempty"`
}

type testFail struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type testSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Cases    []testCase
}

// Add writes the suite of a Check.
func (j *JUnit) Add(d Output) error { return j.add(d.file, d.tests) }

// Refuse writes a suite for an input that cannot be read. The error names it.
func (j *JUnit) Refuse(err error) error {
	return j.add("unreadable: "+err.Error(), []testCase{{Name: "the input can be read", Error: &testFail{Message: err.Error()}}})
}

func (j *JUnit) add(file string, cases []testCase) error {
	suite := testSuite{Name: shown.Visible(clip(file)), Tests: len(cases), Cases: cases}
	for i := range cases {
		one := &cases[i]
		one.Class = suite.Name
		one.Name, one.Out = shown.Visible(one.Name), visibleLines(one.Out)
		if one.Failure.show() {
			suite.Failures++
		}
		if one.Error.show() {
			suite.Errors++
		}
	}
	text, err := xml.MarshalIndent(suite, "  ", "  ")
	if err == nil {
		err = j.begin()
	}
	if err == nil {
		_, err = fmt.Fprintf(j.w, "%s\n", text)
	}
	return err
}

// show makes a result visible, and reports whether there is one.
func (f *testFail) show() bool {
	if f == nil {
		return false
	}
	f.Message, f.Text = shown.Visible(f.Message), visibleLines(f.Text)
	return true
}

// visibleLines makes a text visible that has lines.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = shown.Visible(line)
	}
	return strings.Join(lines, "\n")
}

func (j *JUnit) begin() (err error) {
	if !j.begun {
		j.begun = true
		_, err = io.WriteString(j.w, xml.Header+"<testsuites>\n")
	}
	return err
}

// Close ends the results, also if there is none.
func (j *JUnit) Close() error {
	if err := j.begin(); err != nil {
		return err
	}
	_, err := io.WriteString(j.w, "</testsuites>\n")
	return err
}

// tests are the cases of a check. Their names are the same whatever the answer is, so that a CI
// can follow them.
func (c check) tests() []testCase {
	var text page
	fit := testCase{Name: "every program run fits", Out: c.line() + doubtful(c.result)}
	if list := c.result.Checks.List; c.result.Checks.Failed == 0 && len(c.overTexts()) > 0 {
		fit.Out = c.ran() + doubtful(c.result) // a budget has a case of its own
	} else if c.result.Checks.Failed > 0 || c.overlapping() {
		fit.Failure = &testFail{Message: c.line()}
		if len(list) > 0 {
			fit.Failure.Message = complaint(list[0].Verdict)
			c.writeLine(&text)
			c.writeFailed(&text)
			var b bytes.Buffer
			text.text(&b, draw.Style{})
			fit.Failure.Text = b.String()
		}
	}
	told := testCase{Name: "nothing is hidden"}
	if len(c.Untold) > 0 {
		told.Error = &testFail{Message: "cannot tell: " + codesText(answer.CodesOf(c.Untold))}
		for _, why := range c.Untold {
			told.Error.Text += why.Text + "\n"
		}
	} else if len(c.Accepted) > 0 {
		told.Out = "fits" + c.accepted()
	}
	return append([]testCase{fit, told}, c.budgetTests()...)
}

func (c check) budgetTests() (cases []testCase) {
	texts := c.overTexts()
	if c.Terms.Budget != nil {
		one := testCase{Name: "every core keeps to the budget"}
		if cores := texts[:len(c.Over)]; len(cores) > 0 {
			one.Failure = &testFail{Message: cores[0], Text: strings.Join(cores, "\n") + "\n"}
		}
		cases = append(cases, one)
	}
	texts = texts[len(c.Over):]
	for _, o := range c.Ops {
		one := testCase{Name: "op " + clip(string(o.Op)) + " keeps to its budget", Out: shown.Plural(o.Programs, "program")}
		if o.Over > 0 {
			one.Failure = &testFail{Message: texts[0]}
			texts = texts[1:]
		}
		cases = append(cases, one)
	}
	return cases
}
