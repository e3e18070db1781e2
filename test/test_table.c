/* Tables: their forms to the character, what is read back, and every allocation that fails. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "folder_make.h"
#include "scratch.h"

static void add(r4_table *t, const char *a, const char *b, const char *c)
{
  r4_table_cell(t, a), r4_table_cell(t, b), r4_table_cell(t, c);
}

static r4_table *small(void)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, "name", 'l', 0);
  r4_table_column(t, "n", 'r', 4);
  r4_table_column(t, "about", 'l', 0);
  add(t, "é", "7", "a|b");
  add(t, "", "", "");
  add(t, "longer", "12345", "x, \"y\"");
  return t;
}

static void assert_taken(r4_table *t, r4_table_form form, const char *expected)
{
  char *text = r4_table_take(t, form);
  assert_non_null(text);
  assert_string_equal(text, expected);
  r4_string_free(text);
}

static void test_forms(void **state)
{
  (void)state;
  static const char *const expected[] = {
    [R4_TABLE_PLAIN] = "name        n  about\né           7  a|b\n\nlonger  12345  x, \"y\"\n",
    [R4_TABLE_MARKDOWN] = ("| name   |     n | about |\n|---|---|---|\n| é      |     7 | a\\|b |\n"
                           "|        |       |  |\n| longer | 12345 | x, \"y\" |\n"),
    [R4_TABLE_LATEX] = ("\\begin{tabular}{lrl}\n\\hline\nname & n & about \\\\\n\\hline\né & 7 & a$|$b \\\\\n &  &  "
                        "\\\\\n"
                        "longer & 12345 & x, \"y\" \\\\\n\\hline\n\\end{tabular}\n"),
    [R4_TABLE_CSV] = "name,n,about\né,7,a|b\n,,\nlonger,12345,\"x, \"\"y\"\"\"\n",
  };
  for (int form = R4_TABLE_PLAIN; form <= R4_TABLE_LATEX; form++) {
    r4_table *t = small();
    assert_taken(t, (r4_table_form)form, expected[form]);
    r4_table_free(t);
  }
}

/* A table can be written in pieces, and needs no headings; half a row is none. */
static void test_pieces(void **state)
{
  (void)state;
  r4_table *t = small();
  assert_int_equal(r4_table_rows(t), 3);
  r4_string_free(r4_table_take(t, R4_TABLE_CSV));
  assert_int_equal(r4_table_rows(t), 0);
  add(t, " a", "b\x1b[31m", "\xff");
  r4_table_cell(t, "half");
  assert_taken(t, R4_TABLE_CSV, "\" a\",b\\x1b[31m,\\xff\n");
  r4_table_free(t);
  t = r4_table_new();
  r4_table_column(t, NULL, 'r', 3);
  r4_table_cell(t, "1");
  assert_taken(t, R4_TABLE_PLAIN, "  1\n");
  r4_table_free(t);
  t = r4_table_new();
  assert_taken(t, R4_TABLE_MARKDOWN, "");
  r4_table_free(t);
}

static void test_reading(void **state)
{
  (void)state;
  r4_error e = {0};
  put_text(scratch_folder(), "t.csv", "Name,kappa\n\"a, \"\"b\"\"\",1\n,2\n");
  r4_table *t = r4_table_read(scratch_path("t.csv"), &e);
  assert_non_null(t);
  assert_int_equal(r4_table_rows(t), 2);
  assert_string_equal(r4_table_at(t, 0, "name"), "a, \"b\"");
  assert_string_equal(r4_table_at(t, 1, "name"), "");
  assert_string_equal(r4_table_at(t, 1, "kappa"), "2");
  assert_null(r4_table_at(t, 2, "kappa"));
  assert_null(r4_table_at(t, 0, "sd"));
  r4_table_free(t);
  put_text(scratch_folder(), "t.csv", "a,b\n1\n");
  assert_null(r4_table_read(scratch_path("t.csv"), &e));
  assert_error(&e, R4_E_PARSE, "t.csv:2: 1 fields, expected 2");
  assert_null(r4_table_read(scratch_path("none.csv"), &e));
  assert_error(&e, R4_E_IO, "none.csv");
}

/* Each allocation fails in turn: no text and no crash, until none fails. */
static void test_memory(void **state)
{
  (void)state;
  put_text(scratch_folder(), "t.csv", "a,b\n1,2\n");
  bool whole = false;
  for (long n = 1; !whole && n < 1000; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_table *t = small(), *read = r4_table_read(scratch_path("t.csv"), &e);
    char *text = r4_table_take(t, R4_TABLE_MARKDOWN);
    whole = r4_mem_count() < n;
    r4_mem_fail_at(0);
    if (!read) assert_error(&e, R4_E_MEMORY, "");
    if (whole != (text && read)) fail_msg("allocation %ld: text %d, table %d", n, text != NULL, read != NULL);
    r4_string_free(text);
    r4_table_free(t);
    r4_table_free(read);
  }
  assert_true(whole);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_forms),
    cmocka_unit_test(test_pieces),
    cmocka_unit_test(test_reading),
    cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
