/* Comma-separated values: what RFC 4180 allows is read, and what spreadsheets make of it; what is neither is refused
 * with file and line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "check.h"

enum { ROWS = 8 };

/* Reads it all; rows become "a|b|c" each. Returns the number of rows or -1. The copy is as long as the text, so that
 * a sanitizer sees what is read behind it. */
static int read_all(const char *text, size_t size, char got[ROWS][64], r4_error *e)
{
  struct csv c;
  bool row = true;
  int n = 0;
  uint8_t *copy = malloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = 0;
  r4_status s = csv_open(&c, copy, size, "f.csv", e);
  if (s) {
    free(copy);
    return -1;
  }
  while (!(s = csv_next(&c, &row, e)) && row) {
    assert_true(n < ROWS);
    size_t length = 0;
    for (int k = 0; k < c.columns; k++)
      length += (size_t)snprintf(got[n] + length, 64 - length, "%s%s", k ? "|" : "", c.field[k]);
    n++;
  }
  csv_close(&c);
  free(copy);
  return s ? -1 : n;
}

#define READ(text, got, e) read_all(text, sizeof(text) - 1, got, e)

static void reads_what_the_rfc_allows(void **state)
{
  (void)state;
  char got[ROWS][64];
  r4_error e;
  assert_int_equal(READ("a,b\n1,2\n3,4\n", got, &e), 2);
  assert_string_equal(got[0], "1|2");
  assert_string_equal(got[1], "3|4");
  assert_int_equal(READ("\xef\xbb\xbf"
                        "a,b\r\n1,2\r\n\r\n,\r\n3,",
                        got, &e),
                   3);
  assert_string_equal(got[0], "1|2");
  assert_string_equal(got[1], "|");
  assert_string_equal(got[2], "3|");
  assert_int_equal(READ("a,b\n\"x, \"\"y\"\"\nz\",\"\"\n\"\",\" q\"", got, &e), 2);
  assert_string_equal(got[0], "x, \"y\"\nz|");
  assert_string_equal(got[1], "| q");
  assert_int_equal(READ("\n\na\n\"\"\n\nb", got, &e), 2);
  assert_string_equal(got[0], "");
  assert_string_equal(got[1], "b");
  assert_int_equal(READ("a", got, &e), 0);
}

/* Other separators, and blanks around quotes. */
static void reads_what_spreadsheets_write(void **state)
{
  (void)state;
  char got[ROWS][64];
  r4_error e;
  assert_int_equal(READ("\xef\xbb\xbf"
                        "a;b\r\n1;2,5\r\n\"x;y\";\t3\r\n",
                        got, &e),
                   2);
  assert_string_equal(got[0], "1|2,5");
  assert_string_equal(got[1], "x;y|\t3");
  assert_int_equal(READ("a\tb\n1\t2;3\n \"4\" \t5,\n", got, &e), 2);
  assert_string_equal(got[0], "1|2;3");
  assert_string_equal(got[1], "4|5,");
  assert_int_equal(READ("a,b\n \t\"1\" ,2 \n", got, &e), 1);
  assert_string_equal(got[0], "1|2 ");
  assert_int_equal(READ("\"a,b,c\";d\n1;2\n", got, &e), 1); /* in quotes they do not count */
  assert_string_equal(got[0], "1|2");
  assert_int_equal(READ("a,b;c\n1,2\n", got, &e), 1); /* as many of each: commas */
  assert_string_equal(got[0], "1|2");
}

static void refuses_the_rest_with_the_line(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    size_t size;
    const char *says;
  } bad[] = {
#define BAD(text, says) {text, sizeof(text) - 1, says}
    BAD("", "f.csv:1: empty"),
    BAD("\n\r\n", "f.csv:3: empty"),
    BAD("a,b\n1,2\n1\n", "f.csv:3: 1 fields, expected 2"),
    BAD("a,b\n\"x\ny\",2\n1,2,3\n", "f.csv:4: 3 fields, expected 2"),
    BAD("a,b\n1,\"2", "f.csv:2: a quote is not closed"),
    BAD("a,b\n1,2\n\"\n\n", "f.csv:3: a quote is not closed"),
    BAD("a,b\n1,2\"\n", "f.csv:2: a quote inside"),
    BAD("a,b\n1,\"2\"x\n", "f.csv:2: text after a closing quote"),
    BAD("a;b\n1,2\n", "f.csv:2: 1 fields, expected 2"),
    BAD("\xff\xfe"
        "a\0,\0b\0",
        "f.csv:1: UTF-16, expected UTF-8"),
    BAD("a,b\r1,2\r", "f.csv:1: a carriage return"),
    BAD("a,b\n1,2\r", "f.csv:2: a carriage return"),
    BAD("a,b\n1,\0\n", "f.csv:2: a zero byte"),
    BAD("a,b\n1,\"x\n\0\"\n", "f.csv:3: a zero byte"),
    BAD("a,b\n1,\"x\"\0", "f.csv:2: a zero byte"),
#undef BAD
  };
  char got[ROWS][64];
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    assert_int_equal(read_all(bad[k].text, bad[k].size, got, &e), -1);
    assert_int_equal(e.status, R4_E_PARSE);
    if (strncmp(e.text, bad[k].says, strlen(bad[k].says)))
      fail_msg("\"%s\" says \"%s\", expected \"%s\"", bad[k].text, e.text, bad[k].says);
  }
}

static void finds_columns(void **state)
{
  (void)state;
  struct csv c;
  r4_error e;
  int column;
  uint8_t text[] = "file, Label\t,File ,\"a \"\"b\"\"\"\n1,2,3,4\n";
  assert_int_equal(csv_open(&c, text, sizeof text - 1, "f.csv", &e), R4_OK);
  assert_int_equal(c.columns, 4);
  assert_true(csv_has(&c, "label") && csv_has(&c, "file") && csv_has(&c, "Label"));
  assert_int_equal(csv_column(&c, "a \"b\"", &column, &e), R4_OK);
  assert_int_equal(column, 3);
  assert_int_equal(csv_column(&c, "file", &column, &e), R4_E_PARSE);
  assert_string_equal(e.text, "f.csv: columns 1 and 3 are both called \"file\"");
  assert_int_equal(csv_column(&c, "group", &column, &e), R4_E_PARSE);
  assert_string_equal(
    e.text, "f.csv:1: no column \"group\"; the first line names \"file\", \"Label\", \"File\", \"a \"b\"\"");
  csv_close(&c);
}

static void has_a_limit(void **state)
{
  (void)state;
  uint8_t *text = calloc(CSV_COLUMNS + 2, 1);
  struct csv c;
  r4_error e;
  for (int extra = 0; extra < 2; extra++) { /* commas separate one column more */
    memset(text, ',', CSV_COLUMNS);
    text[CSV_COLUMNS - 1 + extra] = 0;
    r4_status s = csv_open(&c, text, (size_t)(CSV_COLUMNS - 1 + extra), "f.csv", &e);
    assert_int_equal(s, extra ? R4_E_PARSE : R4_OK);
    if (!s) csv_close(&c);
  }
  assert_non_null(strstr(e.text, "65536 columns"));
  free(text);
}

static void survives_failed_allocations(void **state)
{
  (void)state;
  for (long n = 1;; n++) {
    struct csv c;
    r4_error e;
    uint8_t text[] = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r\n";
    r4_mem_fail_at(n);
    r4_status s = csv_open(&c, text, sizeof text - 1, "f.csv", &e);
    bool done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    assert_int_equal(s, done ? R4_OK : R4_E_MEMORY);
    if (!s) csv_close(&c);
    if (done) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_what_the_rfc_allows),
    cmocka_unit_test(reads_what_spreadsheets_write),
    cmocka_unit_test(refuses_the_rest_with_the_line),
    cmocka_unit_test(finds_columns),
    cmocka_unit_test(has_a_limit),
    cmocka_unit_test(survives_failed_allocations),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
