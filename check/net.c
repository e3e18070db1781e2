/* The text of a net becomes parts, with shapes and with the tensors of the file.
 *
 *     conv1: conv 8 3 p1, relu, residual(conv 8 3 p1, relu; conv 8 1), flatten, dense 10
 *
 * A part is called by its name or its number in the row; names in brackets with a name are behind it, numbers behind
 * that of the brackets and of the branch. Everything is as in files of PyTorch: images are [channels, height, width],
 * and flattened in this order. Abbreviations (repeat, brackets alone) are not read: r4 prints nets without them. */
#include "check.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 128, MOST_PARTS = 4096, MOST_DEPTH = 24, MOST_FEATURES = 1 << 24 };

/* Numbers in their place, then options: p padding, b "nobias", e "eps", f "momentum", l "mean", t "std", others by
 * their letter. */
static const struct kind {
  const char *name, *places, *options;
} kinds[] = {
  {"dense", "n", "b"},       {"conv", "nk", "spdgb"}, {"depthwise", "k", "spdmb"}, {"maxpool", "k", "sp"},
  {"avgpool", "k", "sp"},    {"relu", "", ""},        {"relu6", "", ""},           {"flatten", "", ""},
  {"globalpool", "", ""},    {"leaf", "", ""},        {"mean", "", ""},            {"first", "", ""},
  {"batchnorm", "", "ef"},   {"normalize", "", "lt"}, {"dropout", "r", ""},        {"embedding", "nw", ""},
  {"residual", "", ""},      {"sum", "", ""},         {NULL, NULL, NULL}};

struct builder {
  const struct model *m;
  struct net *net;
  const char *at;
  size_t parts;
};

/* ---- Words ---- */

static bool takes(struct builder *b, char c)
{
  b->at += strspn(b->at, " \t\r\n");
  return *b->at == c && b->at++;
}

static char *word(struct builder *b, char to[NAME])
{
  takes(b, ' ');
  size_t n = strcspn(b->at, " \t\r\n,();:");
  if (n >= NAME) refuse("the net has a word of more than %d letters", NAME - 1);
  memcpy(to, b->at, n);
  to[n] = 0;
  b->at += n;
  return to;
}

static int64_t whole(const char *s, int64_t least)
{
  const char *at = s;
  int64_t v;
  if (!whole_read(&at, 1000000000, &v) || *at || v < least)
    refuse("the net has \"%s\" where a whole number is expected", s);
  return v;
}

static struct range real(const char *s)
{
  struct decimal d;
  if (!decimal_read(s, &d)) refuse("the net has \"%s\" where a decimal is expected", s);
  return decimal_range(d);
}

static const char *join(char to[NAME], const char *prefix, const char *last)
{
  if (snprintf(to, NAME, "%s%s%s", prefix, *prefix && *last ? "." : "", last) >= NAME - 32)
    refuse("the net has too long a name");
  return to;
}

bool is(const struct part *p, const char *kind)
{
  return !strcmp(p->kind, kind);
}

/* ---- Arguments ---- */

static void read_list(struct part *p, int which, char *s)
{
  for (char *next = s; next; s = next) {
    if ((next = strchr(s, '/'))) *next++ = 0;
    if (p->listed[which] == MOST_LIST) refuse("normalize has more than %d numbers", MOST_LIST);
    p->list[which][p->listed[which]++] = real(s);
  }
}

/* Whether the word w, perhaps with the one behind it, is this option. */
static bool read_option(struct builder *b, struct part *p, char option, char *w)
{
  static const char *const named[] = {
    ['b'] = "nobias", ['e'] = "eps", ['f'] = "momentum", ['l'] = "mean", ['t'] = "std"};
  char next[NAME], *slash;
  if (option == 'p' && !strcmp(w, "same")) return (p->num['p'] = -1);
  if (strchr("beflt", option) ? strcmp(w, named[(int)option]) : *w != option || !strchr("0123456789", w[1]))
    return false;
  if (option == 'b') p->num['b'] = 1;
  else if (option == 'e') p->eps = real(word(b, next));
  else if (option == 'f') real(word(b, next));
  else if (option == 'l' || option == 't') read_list(p, option == 't', word(b, next));
  else {
    if ((slash = option == 'p' ? strchr(w, '/') : NULL)) *slash = 0;
    p->num[(int)option] = whole(w + 1, option != 'p');
    if (option == 'p') p->num['q'] = slash ? whole(slash + 1, 0) : p->num['p'];
  }
  return true;
}

static void read_arguments(struct builder *b, struct part *p, const struct kind *k)
{
  char w[NAME], seen['z' + 1] = "";
  p->num['d'] = p->num['g'] = p->num['m'] = p->num['s'] = 1;
  p->eps = decimal_range((struct decimal){1, 5});
  for (const char *c = k->places; *c; c++)
    if (*c == 'r') real(word(b, w));
    else p->num[(int)*c] = whole(word(b, w), 1);
  if (strstr(p->kind, "pool")) p->num['s'] = p->num['k'];
  while (*word(b, w)) {
    const char *c = k->options;
    while (*c && (seen[(int)*c] || !read_option(b, p, *c, w))) c++;
    if (!*c) refuse("the net has \"%s\" behind %s: not understood", w, p->kind);
    seen[(int)*c] = 1;
  }
}

/* ---- Shapes and tensors ---- */

size_t shape_size(const struct shape *s)
{
  size_t n;
  bool fits = !__builtin_mul_overflow(s->c, s->h, &n) && !__builtin_mul_overflow(n, s->w, &n);
  if (!fits || !n || n > MOST_FEATURES) refuse("the net has a value that is empty, or too large");
  return n;
}

static const float *tensor(const struct builder *b, const char *part, const char *what, int rank, const size_t *dim)
{
  char name[2 * NAME];
  snprintf(name, sizeof name, "%s.%s", part, what);
  for (size_t k = 0; k < b->m->tensors; k++) {
    const struct tensor *t = &b->m->tensor[k];
    size_t n = 1;
    if (strcmp(t->name, name)) continue;
    if (t->rank != rank || memcmp(t->dim, dim, (size_t)rank * sizeof *dim))
      refuse("tensor %s is of another shape", name);
    for (int i = 0; i < rank; i++) n *= dim[i];
    for (size_t i = 0; i < n; i++)
      if (!(t->at[i] - t->at[i] == 0)) refuse("tensor %s has a value that is not finite", name);
    return t->at;
  }
  refuse("the model has no tensor %s", name);
}

/* (size + padding - (k - 1) d - 1) / s + 1; "same" is as many windows as strides, the odd pixel of padding behind. */
static size_t window(struct part *p, int axis, size_t in)
{
  int64_t size = (int64_t)in, s = p->num['s'], k = p->num['k'], reach = (k - 1) * p->num['d'] + 1;
  int64_t all = p->num['p'] + p->num['q'], same = (size - 1) / s * s + reach - size;
  if (p->num['p'] < 0) all = same > 0 ? same : 0;
  p->pad[axis] = p->num['p'] < 0 ? all / 2 : p->num['p'];
  if (size + all < reach) refuse("%s gets an image smaller than its window", p->kind);
  if (strstr(p->kind, "pool") && (p->pad[axis] > k / 2 || all - p->pad[axis] > k / 2))
    refuse("%s has too much padding", p->kind);
  return (size_t)((size + all - reach) / s + 1);
}

/* Weighted sums; dense is a convolution with a window of one pixel. */
static void shape_sums(struct builder *b, struct part *p, const char *name)
{
  bool flat = is(p, "dense");
  if (flat) p->num['k'] = 1;
  if (is(p, "depthwise")) p->num['n'] = (p->num['g'] = (int64_t)p->in.c) * p->num['m'];
  size_t n = (size_t)p->num['n'], k = (size_t)p->num['k'], g = (size_t)p->num['g'];
  if (flat ? p->in.rank == IMAGE : p->in.rank != IMAGE) refuse("%s gets an image, or none", p->kind);
  if (n % g || p->in.c % g) refuse("%s: channels are not multiples of the groups", p->kind);
  p->out = (struct shape){p->in.rank, n, window(p, 0, p->in.h), window(p, 1, p->in.w)};
  p->weight = tensor(b, name, "weight", flat ? 2 : 4, (size_t[]){n, p->in.c / g, k, k});
  if (!p->num['b']) p->bias = tensor(b, name, "bias", 1, &n);
}

static void shape_part(struct builder *b, struct part *p, const char *name)
{
  const size_t rank = p->in.rank;
  p->out = p->in;
  if ((rank == IDS) != is(p, "embedding") && !p->branches) refuse("%s gets tokens, or none", p->kind);
  if (is(p, "dense") || is(p, "conv") || is(p, "depthwise")) shape_sums(b, p, name);
  if (is(p, "maxpool") || is(p, "avgpool")) {
    if (rank != IMAGE) refuse("%s does not get an image", p->kind);
    p->out = (struct shape){IMAGE, p->in.c, window(p, 0, p->in.h), window(p, 1, p->in.w)};
  }
  if (is(p, "globalpool") ? rank != IMAGE : (is(p, "mean") || is(p, "first")) && rank != TOKENS)
    refuse("%s gets something else", p->kind);
  if (is(p, "globalpool") || is(p, "mean") || is(p, "first")) p->out = (struct shape){VECTOR, p->in.c, 1, 1};
  if (is(p, "relu") || is(p, "relu6")) p->unit = b->net->units, b->net->units += shape_size(&p->in);
  if (is(p, "flatten")) p->out = (struct shape){VECTOR, shape_size(&p->in), 1, 1};
  if (is(p, "flatten") && rank == TOKENS) refuse("flatten of tokens has no rule here");
  if (is(p, "batchnorm")) {
    const float **const each[] = {&p->weight, &p->bias, &p->mean, &p->var};
    static const char *const what[] = {"weight", "bias", "running_mean", "running_var"};
    for (int k = 0; k < 4; k++) *each[k] = tensor(b, name, what[k], 1, &p->in.c);
  }
  for (int k = 0; k < 2 && is(p, "normalize"); k++) {
    if (!p->listed[k]) p->list[k][p->listed[k]++] = decimal_range((struct decimal){k, 0});
    if (p->listed[k] > 1 && (rank != IMAGE || p->listed[k] != p->in.c))
      refuse("normalize has numbers for other channels");
  }
  if (is(p, "embedding")) {
    p->out = (struct shape){TOKENS, (size_t)p->num['w'], 1, p->in.w};
    p->weight = tensor(b, name, "weight", 2, (size_t[]){(size_t)p->num['n'], p->out.c});
  }
}

/* ---- Rows ---- */

static struct shape build_row(struct builder *b, const char *named, const char *plain, int depth, struct shape in,
                              struct part *before, struct part **to);

static void build_branches(struct builder *b, struct part *p, const char *named, const char *name, int depth)
{
  char number[24], plain[NAME];
  if (!takes(b, '(') || depth == MOST_DEPTH) refuse("the net lacks the ( of %s, or is too deep", p->kind);
  do {
    if (p->branches == (is(p, "sum") ? MOST_BRANCHES : 2)) refuse("%s has too many branches", p->kind);
    snprintf(number, sizeof number, "%zu", p->branches);
    struct shape out =
      build_row(b, named, join(plain, name, number), depth + 1, p->in, p->before, &p->branch[p->branches++]);
    if (p->branches == 1) p->out = out;
    if (memcmp(&p->out, &out, sizeof out) && !*b->net->missing)
      refuse("the branches of %s give different shapes", p->kind);
  } while (takes(b, ';') && !*b->net->missing);
  if (is(p, "residual") && p->branches == 1 && memcmp(&p->out, &p->in, sizeof p->in))
    refuse("residual changes the shape");
  if (is(p, "residual")) p->branches = 2; /* without a shortcut: x itself, by no parts */
  if (!*b->net->missing && !takes(b, ')')) refuse("the net lacks the ) of %s", p->kind);
}

/* Parts, separated by commas; named and plain are what names and numbers are behind. */
static struct shape build_row(struct builder *b, const char *named, const char *plain, int depth, struct shape in,
                              struct part *before, struct part **to)
{
  char w[NAME], name[NAME], number[24];
  for (size_t place = 0; !*b->net->missing; place++, to = &(*to)->next) {
    snprintf(number, sizeof number, "%zu", place);
    word(b, w);
    bool has_name = takes(b, ':');
    join(name, !has_name ? plain : *w == '.' ? "" : named, has_name ? w + (*w == '.') : number);
    if (has_name) word(b, w);
    const struct kind *k = kinds;
    while (k->name && strcmp(k->name, w)) k++;
    if (!k->name) snprintf(b->net->missing, sizeof b->net->missing, "%.24s", *w ? w : "without a name");
    if (!k->name) break;
    if (b->parts++ == MOST_PARTS) refuse("the net has more than %d parts", MOST_PARTS);
    struct part *p = *to = take(1, sizeof *p);
    memcpy(p->kind, k->name, strlen(k->name));
    p->in = in;
    p->before = before;
    read_arguments(b, p, k);
    if (is(p, "residual") || is(p, "sum")) build_branches(b, p, has_name ? name : named, name, depth);
    else shape_part(b, p, name);
    if (!*b->net->missing) shape_size(&p->out);
    in = p->out;
    before = p;
    if (!takes(b, ',')) break;
  }
  return in;
}

void net_build(const struct model *m, struct net *n, bool ids)
{
  struct builder b = {.m = m, .net = n, .at = m->net};
  const size_t *in = m->input;
  n->in = ids ? (struct shape){IDS, 1, 1, in[0]} : (struct shape){VECTOR, in[0], 1, 1};
  if (m->rank == 3) n->in = (struct shape){IMAGE, in[2], in[0], in[1]};
  shape_size(&n->in);
  n->out = build_row(&b, "", "", 0, n->in, NULL, &n->first);
  if (*n->missing) return;
  if (takes(&b, ' ') || *b.at) refuse("the net has \"%.20s\" where a comma or its end is expected", b.at);
  if (n->out.rank != VECTOR) refuse("the net does not give a vector");
  n->classes = n->out.c > 1 ? n->out.c : 2;
}
