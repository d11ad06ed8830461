// Package attack makes inputs that ask for far more than they say: a log of 230 bytes that
// names 256 devices of 65,025 cores each, frees of buffers that nobody has on 65,536
// devices. Whoever reads what strangers send meets them.
//
// [Logs] lists those that are event logs. A [Log] says for which verbs of the command it is
// meant and what it may cost there at most: [Budget]. [Log.Text] writes it in any size, the
// same bytes each time, so that a test can compare what an input costs with what one of ten
// times its size does.
package attack
