/* A net as text: every part with its kind, the numbers that are not the usual ones, and its name, unless it would be
 * called so anyway. Read again, the text gives every part its name: parameters and draws are called by it. */
#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"
#include "module/module.h"

/* Where a row stands: the parts without a name of their own are called "PREFIX.0", "PREFIX.1", ...; in brackets with a
 * name, names begin with a dot, as they are whole. */
struct place {
  char prefix[PARAM_NAME + 24];
  bool in_named_brackets;
  size_t before; /* parts that stand before the row, and are no part of the net */
};

static void print_row(const struct row *row, const struct place *place, struct text *t);

static void print_list(const struct module *m, size_t k, struct text *t)
{
  const struct argument *a = &m->kind->argument[k];
  const double *v = m->list[k];
  if (m->value[k] < 2 && !(v[0] < a->initial) && !(v[0] > a->initial)) return;
  text_add(t, " %s ", a->name);
  for (size_t i = 0; i < (size_t)m->value[k]; i++) {
    if (i) text_add(t, "/");
    text_add_real(t, v[i]);
  }
}

static void print_argument(const struct module *m, size_t k, struct text *t)
{
  const struct argument *a = &m->kind->argument[k];
  if (a->type == ARGUMENT_LIST) {
    print_list(m, k, t);
    return;
  }
  double v = m->value[k];
  bool in_place = a->type == ARGUMENT_WHOLE || a->type == ARGUMENT_SHARE;
  bool padded = m->pad[0] || m->pad[1];
  if (a->type == ARGUMENT_PAD ? !padded : !in_place && !(v < a->initial) && !(v > a->initial)) return;
  text_add(t, " ");
  if (a->type == ARGUMENT_PAD && m->pad[0] == PAD_SAME) {
    text_add(t, "same");
  } else if (a->type == ARGUMENT_PAD) {
    text_add(t, "p%lld", (long long)m->pad[0]);
    if (m->pad[1] != m->pad[0]) text_add(t, "/%lld", (long long)m->pad[1]);
  } else if (a->type == ARGUMENT_LETTER || a->type == ARGUMENT_WHOLE) {
    text_add(t, "%s%lld", a->type == ARGUMENT_LETTER ? a->name : "", (long long)v);
  } else if (a->type == ARGUMENT_FLAG) {
    text_add(t, "%s", a->name);
  } else {
    if (a->type == ARGUMENT_REAL) text_add(t, "%s ", a->name);
    text_add_real(t, v);
  }
}

static bool print_name(const struct module *m, size_t number, const struct place *place, struct text *t)
{
  char usual[sizeof place->prefix + 24];
  c_locale_print(usual, sizeof usual, "%s%s%zu", place->prefix, *place->prefix ? "." : "", number);
  if (!strcmp(usual, m->name)) return false;
  text_add(t, "%s%s: ", place->in_named_brackets ? "." : "", m->name);
  return true;
}

static void print_part(const struct module *m, size_t number, const struct place *place, struct text *t)
{
  struct place in = {.in_named_brackets = place->in_named_brackets};
  in.in_named_brackets |= print_name(m, number, place, t);
  text_add(t, "%s", m->kind->name);
  for (size_t k = 0; k < m->kind->arguments; k++) print_argument(m, k, t);
  for (size_t k = 0; k < m->branches; k++) {
    text_add(t, k ? "; " : "(");
    c_locale_print(in.prefix, sizeof in.prefix, "%s.%zu", m->name, k);
    print_row(&m->branch[k], &in, t);
  }
  if (m->branches) text_add(t, ")");
}

static void print_row(const struct row *row, const struct place *place, struct text *t)
{
  for (size_t k = 0; k < row->n; k++) {
    if (k) text_add(t, ", ");
    print_part(&row->part[k], place->before + k, place, t);
  }
}

char *net_print_behind(const r4_net *n, const char *part)
{
  struct text t = {0};
  if (*part) text_add(&t, "%s, ", part);
  print_row(n->row, &(struct place){.before = *part != 0}, &t);
  return text_take(&t);
}

char *net_print(const r4_net *n)
{
  return net_print_behind(n, "");
}
