// Package audit holds kept numbers against those of a recount. An [Audit] keeps the first that
// differs, as a [Miscount]. [Same] compares two numbers, [Flag] is a yes or no as a number,
// [Each] goes through what is to be looked at until a number differs, and [CoresText] names
// cores in few words.
package audit
