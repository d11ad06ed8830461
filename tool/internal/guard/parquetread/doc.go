// Package parquetread reads the Parquet files of this module, for tests. It shares no code with their writer, and
// refuses a file whose headers contradict its bytes.
package parquetread
