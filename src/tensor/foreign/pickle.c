#include "tensor/foreign/pickle.h"

#include <string.h>

#include "base/mem.h"

/* A link of a chain of items. */
struct link {
  uint32_t value, next; /* next: 0 at the end */
};

/* A list that grows. */
struct list {
  void *at;
  size_t n, capacity;
};

struct pickle {
  struct list value; /* struct pickled; the first stands for nothing */
  struct list link;  /* struct link; likewise                        */
  uint32_t root;
};

struct machine {
  const char *path;
  const uint8_t *data;
  size_t size, at, began; /* began: where the present instruction does */
  struct pickle *p;
  struct list stack, mark, memo; /* uint32_t: values, heights of the stack, values by number */
  r4_error *e;
};

static bool failed(const struct machine *m)
{
  return m->e->status;
}

static void refuse(struct machine *m, const char *what)
{
  if (!failed(m)) r4_fail(m->e, R4_E_PARSE, "%s: byte %zu of a pickle: %s", m->path, m->began, what);
}

/* ---- Lists ---- */

/* A value takes up to 80 times the byte that makes it. Nets of ten thousand tensors have a tenth of these. */
enum { MOST_VALUES = 2000000 };

/* Room for one more, or NULL. */
static void *grow(struct machine *m, struct list *l, size_t size)
{
  if (l->n > MOST_VALUES) {
    if (!failed(m))
      r4_fail(m->e, R4_E_PARSE, "%s: byte %zu of a pickle: there are more than %d values", m->path, m->began,
              MOST_VALUES);
    return NULL;
  }
  if (mem_more(&l->at, &l->capacity, l->n + 1, size, m->path, m->e)) return NULL;
  return (char *)l->at + size * l->n++;
}

static struct pickled *value_at(const struct pickle *p, uint32_t id)
{
  return (struct pickled *)p->value.at + id;
}

static void push(struct machine *m, uint32_t id)
{
  uint32_t *to = failed(m) ? NULL : grow(m, &m->stack, sizeof *to);
  if (to) *to = id;
}

static size_t floor_of(const struct machine *m)
{
  return m->mark.n ? ((uint32_t *)m->mark.at)[m->mark.n - 1] : 0;
}

/* 0, which is nothing, if there is none above the last mark. */
static uint32_t pop(struct machine *m)
{
  if (m->stack.n > floor_of(m)) return ((uint32_t *)m->stack.at)[--m->stack.n];
  refuse(m, "an instruction takes a value where there is none");
  return 0;
}

static uint32_t top(struct machine *m)
{
  uint32_t id = pop(m);
  if (id) m->stack.n++;
  return id;
}

static uint32_t make(struct machine *m, struct pickled v)
{
  struct pickled *to = failed(m) ? NULL : grow(m, &m->p->value, sizeof *to);
  if (!to) return 0;
  *to = v;
  return (uint32_t)(m->p->value.n - 1);
}

static void push_new(struct machine *m, struct pickled v)
{
  uint32_t id = make(m, v);
  if (id) push(m, id);
}

static void append(struct machine *m, uint32_t to, uint32_t item)
{
  struct link *link = failed(m) || !to || !item ? NULL : grow(m, &m->p->link, sizeof *link);
  if (!link) return;
  *link = (struct link){.value = item};
  uint32_t id = (uint32_t)(m->p->link.n - 1);
  struct pickled *v = value_at(m->p, to);
  if (v->last)
    ((struct link *)m->p->link.at)[v->last].next = id;
  else
    v->first = id;
  v->last = id;
  v->items++;
}

/* ---- Operands of instructions ---- */

static const uint8_t *take(struct machine *m, uint64_t n)
{
  if (n > m->size - m->at) {
    refuse(m, "the file ends within an instruction");
    return NULL;
  }
  m->at += (size_t)n;
  return m->data + m->at - n;
}

/* A number of n bytes, the lowest first; 0 if the file ends. */
static uint64_t number(struct machine *m, size_t n)
{
  const uint8_t *from = take(m, n);
  uint64_t v = 0;
  for (size_t k = n; from && k--;) v = v << 8 | from[k];
  return v;
}

static void push_whole(struct machine *m, int64_t v)
{
  push_new(m, (struct pickled){.kind = PICKLE_WHOLE, .whole = v});
}

/* A number of so many bytes in two's complement. Those of more than 8 are no sizes of anything: kept as a real. */
static void push_long(struct machine *m, uint64_t n)
{
  const uint8_t *from = take(m, n);
  uint64_t v = 0;
  if (!from) return;
  if (n > 8) {
    push_new(m, (struct pickled){.kind = PICKLE_REAL});
    return;
  }
  if (n && from[n - 1] & 0x80) v = ~(uint64_t)0;
  for (size_t k = (size_t)n; k--;) v = v << 8 | from[k];
  push_whole(m, (int64_t)v);
}

static void push_text(struct machine *m, uint64_t n)
{
  const uint8_t *from = take(m, n);
  if (from)
    push_new(m, (struct pickled){.kind = PICKLE_TEXT, .text = (const char *)from, .length = (size_t)n});
}

/* Text to the end of the line. */
static void push_line(struct machine *m)
{
  const uint8_t *from = m->data + m->at, *end = memchr(from, '\n', m->size - m->at);
  push_text(m, end ? (uint64_t)(end - from) : m->size);
  m->at += end ? 1 : 0;
}

/* ---- Groups ---- */

/* The values above the last mark become the items of "to", or are dropped if it is 0; the mark goes. */
static void gather(struct machine *m, uint32_t to)
{
  size_t from = floor_of(m);
  if (!m->mark.n) {
    refuse(m, "there is no mark");
    return;
  }
  for (size_t k = from; k < m->stack.n && to; k++) append(m, to, ((uint32_t *)m->stack.at)[k]);
  m->stack.n = from;
  m->mark.n--;
}

/* The same for what lies below the mark. */
static void gather_below(struct machine *m)
{
  size_t from = floor_of(m), under = m->mark.n > 1 ? ((uint32_t *)m->mark.at)[m->mark.n - 2] : 0;
  if (!m->mark.n || from <= under)
    refuse(m, "there is nothing to put values into");
  else
    gather(m, ((uint32_t *)m->stack.at)[from - 1]);
}

/* The last n values, as items of a new one. */
static void push_few(struct machine *m, enum pickle_kind kind, size_t n)
{
  uint32_t item[3] = {0}, id;
  for (size_t k = n; k--;) item[k] = pop(m);
  id = make(m, (struct pickled){.kind = kind});
  for (size_t k = 0; k < n; k++) append(m, id, item[k]);
  if (id) push(m, id);
}

/* The last n values become items of the one below them. */
static void add_few(struct machine *m, size_t n)
{
  uint32_t item[2] = {0};
  for (size_t k = n; k--;) item[k] = pop(m);
  uint32_t to = top(m);
  for (size_t k = 0; k < n; k++) append(m, to, item[k]);
}

static void push_group(struct machine *m, enum pickle_kind kind)
{
  uint32_t id = make(m, (struct pickled){.kind = kind});
  if (id) gather(m, id);
  if (id) push(m, id);
}

/* ---- Values that are used again ---- */

static void remember(struct machine *m, uint64_t number)
{
  uint32_t id = top(m);
  if (number > m->size) refuse(m, "a number of a value that cannot be");
  while (!failed(m) && m->memo.n <= number) {
    uint32_t *to = grow(m, &m->memo, sizeof *to);
    if (to) *to = 0;
  }
  if (!failed(m)) ((uint32_t *)m->memo.at)[number] = id;
}

static void recall(struct machine *m, uint64_t number)
{
  uint32_t id = number < m->memo.n ? ((uint32_t *)m->memo.at)[number] : 0;
  if (!id) refuse(m, "asks for a value that was not kept");
  push(m, id);
}

static void set_mark(struct machine *m)
{
  uint32_t *to = grow(m, &m->mark, sizeof *to);
  if (to) *to = (uint32_t)m->stack.n;
}

/* ---- Instructions ---- */

/* What an instruction does, with the kind of value that it makes, and a number: of bytes that follow, of
 * values, or the value. */
enum action {
  SKIP,
  FLAG,
  WHOLE,
  SIGNED,
  LONG,
  REAL,
  TEXT,
  FEW,
  LINES,
  GROUP,
  ADD,
  FILL,
  POP,
  POP_GROUP,
  AGAIN,
  MARK,
  PUT,
  GET
};

/* With their names in Python's pickletools. */
static const struct instruction {
  uint8_t code;
  const char *name;
  enum action action;
  size_t n;
  enum pickle_kind kind;
} instructions[] = {
  {0x80, "PROTO", SKIP, 1, 0},
  {0x95, "FRAME", SKIP, 8, 0},
  {'(', "MARK", MARK, 0, 0},
  {'0', "POP", POP, 0, 0},
  {'1', "POP_MARK", POP_GROUP, 0, 0},
  {'2', "DUP", AGAIN, 0, 0},
  {'N', "NONE", FEW, 0, PICKLE_NONE},
  {0x88, "NEWTRUE", FLAG, 1, 0},
  {0x89, "NEWFALSE", FLAG, 0, 0},
  {'J', "BININT", SIGNED, 4, 0},
  {'K', "BININT1", WHOLE, 1, 0},
  {'M', "BININT2", WHOLE, 2, 0},
  {0x8a, "LONG1", LONG, 1, 0},
  {0x8b, "LONG4", LONG, 4, 0},
  {'G', "BINFLOAT", REAL, 8, 0},
  {'U', "SHORT_BINSTRING", TEXT, 1, 0},
  {'T', "BINSTRING", TEXT, 4, 0},
  {'C', "SHORT_BINBYTES", TEXT, 1, 0},
  {'B', "BINBYTES", TEXT, 4, 0},
  {0x8e, "BINBYTES8", TEXT, 8, 0},
  {0x8c, "SHORT_BINUNICODE", TEXT, 1, 0},
  {'X', "BINUNICODE", TEXT, 4, 0},
  {0x8d, "BINUNICODE8", TEXT, 8, 0},
  {')', "EMPTY_TUPLE", FEW, 0, PICKLE_LIST},
  {0x85, "TUPLE1", FEW, 1, PICKLE_LIST},
  {0x86, "TUPLE2", FEW, 2, PICKLE_LIST},
  {0x87, "TUPLE3", FEW, 3, PICKLE_LIST},
  {'t', "TUPLE", GROUP, 0, PICKLE_LIST},
  {']', "EMPTY_LIST", FEW, 0, PICKLE_LIST},
  {'l', "LIST", GROUP, 0, PICKLE_LIST},
  {'a', "APPEND", ADD, 1, 0},
  {'e', "APPENDS", FILL, 0, 0},
  {'}', "EMPTY_DICT", FEW, 0, PICKLE_DICT},
  {'d', "DICT", GROUP, 0, PICKLE_DICT},
  {'s', "SETITEM", ADD, 2, 0},
  {'u', "SETITEMS", FILL, 0, 0},
  {0x8f, "EMPTY_SET", FEW, 0, PICKLE_LIST},
  {0x90, "ADDITEMS", FILL, 0, 0},
  {0x91, "FROZENSET", GROUP, 0, PICKLE_LIST},
  {'c', "GLOBAL", LINES, 2, PICKLE_GLOBAL},
  {0x93, "STACK_GLOBAL", FEW, 2, PICKLE_GLOBAL},
  {'R', "REDUCE", FEW, 2, PICKLE_CALL},
  {0x81, "NEWOBJ", FEW, 2, PICKLE_CALL},
  {'b', "BUILD", POP, 0, 0},
  {'Q', "BINPERSID", FEW, 1, PICKLE_STORED},
  {'q', "BINPUT", PUT, 1, 0},
  {'r', "LONG_BINPUT", PUT, 4, 0},
  {0x94, "MEMOIZE", PUT, 0, 0},
  {'h', "BINGET", GET, 1, 0},
  {'j', "LONG_BINGET", GET, 4, 0},
};

static void act(struct machine *m, const struct instruction *i)
{
  switch (i->action) {
  case SKIP:
    take(m, i->n);
    break;
  case FLAG:
    push_whole(m, (int64_t)i->n);
    break;
  case WHOLE:
    push_whole(m, (int64_t)number(m, i->n));
    break;
  case SIGNED:
    push_long(m, i->n);
    break;
  case LONG:
    push_long(m, number(m, i->n));
    break;
  case REAL:
    take(m, i->n);
    push_few(m, PICKLE_REAL, 0);
    break;
  case TEXT:
    push_text(m, number(m, i->n));
    break;
  case LINES:
    for (size_t k = 0; k < i->n; k++) push_line(m);
    push_few(m, i->kind, i->n);
    break;
  case FEW:
    push_few(m, i->kind, i->n);
    break;
  case GROUP:
    push_group(m, i->kind);
    break;
  case ADD:
    add_few(m, i->n);
    break;
  case FILL:
    gather_below(m);
    break;
  case POP:
    pop(m);
    break;
  case POP_GROUP:
    gather(m, 0);
    break;
  case AGAIN:
    push(m, top(m));
    break;
  case MARK:
    set_mark(m);
    break;
  case PUT:
    remember(m, i->n ? number(m, i->n) : m->memo.n);
    break;
  case GET:
    recall(m, number(m, i->n));
    break;
  }
}

enum { STOP = '.' };

static void run_one(struct machine *m, uint8_t code)
{
  for (size_t k = 0; k < sizeof instructions / sizeof *instructions; k++)
    if (instructions[k].code == code) {
      act(m, &instructions[k]);
      return;
    }
  refuse(m, "an instruction that is not known");
}

static void run(struct machine *m)
{
  make(m, (struct pickled){0}); /* number 0 is nothing */
  grow(m, &m->p->link, sizeof(struct link));
  while (!failed(m)) {
    m->began = m->at;
    const uint8_t *op = take(m, 1);
    if (!op || *op == STOP) break;
    run_one(m, *op);
  }
  m->p->root = top(m);
}

struct pickle *pickle_read(const char *path, const uint8_t *data, size_t size, size_t *used, r4_error *e)
{
  r4_error own = {0};
  struct machine m = {.path = path, .data = data, .size = size, .e = e ? e : &own};
  r4_error_clear(m.e);
  if ((m.p = mem_new(1, sizeof *m.p, path, m.e))) run(&m);
  r4_mem_free(m.stack.at);
  r4_mem_free(m.mark.at);
  r4_mem_free(m.memo.at);
  *used = m.at;
  if (!failed(&m)) return m.p;
  pickle_free(m.p);
  return NULL;
}

void pickle_free(struct pickle *p)
{
  if (!p) return;
  r4_mem_free(p->value.at);
  r4_mem_free(p->link.at);
  r4_mem_free(p);
}

/* ---- What is there ---- */

const struct pickled *pickle_root(const struct pickle *p)
{
  return value_at(p, p->root);
}

const struct pickled *pickle_next(const struct pickle *p, const struct pickled *of, uint32_t *at)
{
  const struct link *link = p->link.at;
  uint32_t next = *at ? link[*at].next : of->first;
  *at = next;
  return next ? value_at(p, link[next].value) : NULL;
}

const struct pickled *pickle_item(const struct pickle *p, const struct pickled *of, size_t k)
{
  uint32_t at = 0;
  const struct pickled *v = pickle_next(p, of, &at);
  while (v && k--) v = pickle_next(p, of, &at);
  return v;
}

const struct pickled *pickle_at(const struct pickle *p, size_t k)
{
  return k + 1 < p->value.n ? value_at(p, (uint32_t)(k + 1)) : NULL;
}

bool pickle_is_text(const struct pickled *v, const char *text)
{
  return v && v->kind == PICKLE_TEXT && v->length == strlen(text) && !memcmp(v->text, text, v->length);
}

bool pickle_is_global(const struct pickle *p, const struct pickled *v, const char *module, const char *name)
{
  return v && v->kind == PICKLE_GLOBAL && pickle_is_text(pickle_item(p, v, 0), module) &&
         pickle_is_text(pickle_item(p, v, 1), name);
}
