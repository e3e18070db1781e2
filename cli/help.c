#include "help.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

/* ---- What a setting takes ---- */

static void print_choices(const char *const *choice, const char *between, const char *last)
{
  for (size_t k = 0; choice && choice[k]; k++) printf("%s%s", !k ? "" : choice[k + 1] ? between : last, choice[k]);
}

/* "0 or more", "0 to 1", "sgd, adam or adamw" */
static void print_range(const r4_setting_info *t)
{
  bool number = t->type == R4_SETTING_WHOLE || t->type == R4_SETTING_REAL;
  if (t->type == R4_SETTING_REALS || (t->type == R4_SETTING_REAL && t->choices)) {
    printf(t->type == R4_SETTING_REALS ? "numbers" : "a number");
    if (t->choices) printf(t->choices[0] && t->choices[1] ? ", " : ", or ");
    print_choices(t->choices, ", ", " or ");
  } else if (t->choices) {
    print_choices(t->choices, ", ", " or ");
    if (t->sums) printf(", or a sum such as r3+pairing");
  } else if (number && t->max < 1e9) {
    printf("%.10g to %.10g", t->min, t->max);
  } else if (number) {
    printf("%.10g or more", t->min);
  } else {
    printf(t->type == R4_SETTING_FLAG ? "true or false" : "text");
  }
}

/* The methods that a setting is for; nothing if it is for all that have a penalty, or for none. */
static void print_methods(const char *key, const char *before, const char *after)
{
  size_t users = 0, others = 0, said = 0;
  for (size_t k = 0; k < r4_method_count(); k++) {
    bool uses = r4_method_uses(r4_method_name(k), key);
    users += uses;
    others += !uses && r4_method_describe(r4_method_name(k)).guided;
  }
  if (!users || !others) return;
  printf("%s", before);
  for (size_t k = 0; k < r4_method_count(); k++)
    if (r4_method_uses(r4_method_name(k), key)) printf("%s%s", said++ ? ", " : "", r4_method_name(k));
  printf("%s", after);
}

/* ---- All of them, or those that most users change ---- */

static void print_line(const r4_setting_info *t)
{
  printf("  %-16s %s", t->key, t->help);
  if (*t->initial && strcmp(t->initial, "unstated")) printf(" (%s)", t->initial);
  printf("\n");
}

static void print_fully(const r4_setting_info *t)
{
  printf("  %-22s ", t->key);
  print_range(t);
  bool twice = !strcmp(t->initial, "default"); /* a value of that name */
  printf("; %s%s\n      ", twice ? "unless set: " : "default ", *t->initial ? t->initial : "empty");
  print_methods(t->key, "", ": ");
  printf("%s\n", t->help);
}

void help_settings(bool all)
{
  const char *group = "";
  printf("\n%s, for FILE and --set, with their defaults:\n", all ? "All settings" : "Settings that most users change");
  for (size_t k = 0; k < r4_setting_count(); k++) {
    r4_setting_info t = r4_setting_describe(k);
    if (!all && !t.basic) continue;
    if (strcmp(group, t.group)) printf("\n%s\n", t.group);
    group = t.group;
    (all ? print_fully : print_line)(&t);
  }
  if (all) return;
  printf("\nA file, say mydata.yaml, and two runs of it:\n"
         "  data: mydata\n"
         "  data.mask_means: irrelevant\n"
         "  net: conv 16 3 p1, relu, maxpool 2, flatten, dense {classes}\n\n"
         "  r4 train mydata.yaml --out runs/mydata\n"
         "  r4 train mydata.yaml --set method=erm --out runs/erm\n\n"
         "All settings: r4 help train --all. One of them: r4 help lambda. The methods: r4 help methods.\n");
}

/* ---- One of them ---- */

static void print_setting(const r4_setting_info *t);

static bool find_setting(const char *key, r4_setting_info *to)
{
  for (size_t k = 0; k < r4_setting_count(); k++) {
    *to = r4_setting_describe(k);
    if (!strcmp(to->key, key) || (to->was && !strcmp(to->was, key))) return true;
  }
  return false;
}

/* By what papers and other programs call it. */
static bool help_usual(const char *word)
{
  const char *key = r4_setting_meant(word), *usual = r4_setting_usual(word);
  r4_setting_info t;
  if (!usual) return false;
  printf("%s is called %s here.\n", word, usual);
  if (key && find_setting(key, &t)) printf("\n"), print_setting(&t);
  return true;
}

/* lambda, and the like, have a default for each method. */
static void print_by_method(const char *key)
{
  bool lambda = !strcmp(key, "lambda"), form = !strcmp(key, "penalty.form");
  if (!lambda && !form) return;
  printf("\nDefault by method:\n");
  for (size_t k = 0; k < r4_method_count(); k++) {
    r4_method_info m = r4_method_describe(r4_method_name(k));
    if (m.terms != 1) continue;
    printf("  %-16s ", r4_method_name(k));
    if (lambda)
      printf("%g\n", m.lambda[0]);
    else
      printf("%s\n", m.form == R4_FORM_LOG ? "log" : "linear");
  }
}

static void print_setting(const r4_setting_info *t)
{
  printf("%s: %s\n\nTakes    ", t->key, t->help);
  print_range(t);
  printf("\nDefault  %s\nGroup    %s\n", *t->initial ? t->initial : "(empty)", t->group);
  print_methods(t->key, "Methods  ", "\n");
  if (t->was) printf("Was      %s, which is still understood\n", t->was);
  print_by_method(t->key);
  printf("\nIn a file: %s: VALUE    For one run: --set %s=VALUE\n", t->key, t->key);
}

/* ---- Methods ---- */

static void print_about(const char *text)
{
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    printf("    %.*s\n", (int)n, text);
  }
}

static void print_sum(const r4_method_info *m)
{
  printf("    ");
  for (size_t k = 0; k < m->terms; k++) printf("%s%s", k ? " and " : "The penalties of ", m->term[k]);
  printf(", each with its own weight.\n");
}

static double default_of(const char *key)
{
  r4_settings *s = r4_settings_new();
  r4_setting_value v = {0};
  if (s) r4_settings_get(s, key, &v, NULL);
  r4_settings_free(s);
  return v.real;
}

/* What it minimises if no setting but the method is given, up to what the letters are. */
static void print_objective(const char *name, const r4_method_info *m)
{
  r4_objective_options o = {
    .method = name, .form = m->form, .filled = m->fills, .tau = default_of("penalty.tau"), .eps = default_of("eps")};
  for (size_t k = 0; k < m->terms; k++) o.lambda[k] = m->lambda[k];
  char *text = r4_objective_text(&o), *letters = text ? strstr(text, "; ") : NULL;
  if (letters) *letters = 0;
  printf("    %s\n", text ? text : "");
  bool own = letters && m->terms == 1 && strncmp(letters + 2, "g is ", 5) && strncmp(letters + 2, "the ", 4);
  if (own) printf("    %.*s\n", (int)strcspn(letters + 2, ";"), letters + 2);
  r4_string_free(text);
}

static void print_method(const char *name)
{
  r4_method_info m = r4_method_describe(name);
  printf("  %s\n", name);
  print_objective(name, &m);
  if (m.about)
    print_about(m.about);
  else
    print_sum(&m);
}

static void print_letters(void)
{
  printf("x is an example, m its mask (1 where nothing may matter), z the logits, g the gradient of the loss with\n"
         "respect to x; the box of x is what masked features may become (eps).\n");
}

static void print_all_methods(void)
{
  printf("What each method minimises by default.\n");
  print_letters();
  printf("Penalties add up: method: cert-r4+pairing. method: auto chooses by the masks you have. A run prints its own\n"
         "objective as it starts, with all numbers.\n");
  for (size_t k = 0; k < r4_method_count(); k++) {
    printf("\n");
    print_method(r4_method_name(k));
  }
}

/* By any name of it that settings take, also a sum. */
static bool help_method(const char *word)
{
  r4_settings *s = r4_settings_new();
  r4_setting_value v;
  char assignment[128];
  bool there = s && snprintf(assignment, sizeof assignment, "method=%s", word) < (int)sizeof assignment &&
               !r4_settings_set(s, assignment, "help", NULL) && !r4_settings_get(s, "method", &v, NULL) &&
               !r4_method_is_open(s);
  if (there) {
    print_method(v.text);
    printf("\n");
    print_letters();
    printf("\nIn a file: method: %s    All methods: r4 help methods\n", v.text);
  }
  r4_settings_free(s);
  return there;
}

bool help_is_setting(const char *word)
{
  r4_setting_info t;
  return find_setting(word, &t);
}

bool help_topic(const char *word)
{
  r4_setting_info t;
  if (!strcmp(word, "methods"))
    print_all_methods();
  else if (find_setting(word, &t))
    print_setting(&t);
  else
    return help_method(word) || help_elsewhere(word) || help_usual(word);
  return true;
}
