#include "text/vocabulary.h"

#include <string.h>

#include "base/mem.h"

void vocabulary_free(struct vocabulary *v)
{
  for (size_t k = 0; k < v->size; k++) r4_mem_free(v->piece[k]);
  r4_mem_free(v->piece);
  r4_mem_free(v->id);
  r4_mem_free(v->edge);
  r4_mem_free(v->child);
  *v = (struct vocabulary){0};
}

/* ---- Edges ---- */

/* The slot of an edge, or the empty one where it belongs. There always is an empty one. */
static size_t slot_of(const struct vocabulary *v, uint64_t key)
{
  size_t k = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (v->slots - 1);
  while (v->edge[k] && v->edge[k] != key) k = (k + 1) & (v->slots - 1);
  return k;
}

static uint64_t key_of(uint32_t node, char byte)
{
  return ((uint64_t)node << 8 | (unsigned char)byte) + 1;
}

static r4_status grow_edges(struct vocabulary *v, r4_error *e)
{
  struct vocabulary larger = {.slots = v->slots ? 2 * v->slots : 1024};
  larger.edge = mem_new(larger.slots, sizeof *larger.edge, "a vocabulary", e);
  larger.child = mem_new(larger.slots, sizeof *larger.child, "a vocabulary", e);
  if (!larger.edge || !larger.child) {
    r4_mem_free(larger.edge);
    r4_mem_free(larger.child);
    return R4_E_MEMORY;
  }
  for (size_t k = 0; k < v->slots; k++) {
    if (!v->edge[k]) continue;
    size_t to = slot_of(&larger, v->edge[k]);
    larger.edge[to] = v->edge[k];
    larger.child[to] = v->child[k];
  }
  r4_mem_free(v->edge);
  r4_mem_free(v->child);
  v->edge = larger.edge;
  v->child = larger.child;
  v->slots = larger.slots;
  return R4_OK;
}

static r4_status new_node(struct vocabulary *v, r4_error *e)
{
  if (v->nodes == v->room) {
    size_t room = v->room ? 2 * v->room : 1024;
    int32_t *id = room < UINT32_MAX ? r4_mem_grow(v->id, room, sizeof *id) : NULL;
    if (!id) return r4_fail(e, R4_E_MEMORY, "out of memory for a vocabulary of %zu pieces", room);
    v->id = id;
    v->room = room;
  }
  v->id[v->nodes++] = -1;
  return R4_OK;
}

/* At most half of the table is full. */
static r4_status add_edge(struct vocabulary *v, uint32_t node, char byte, uint32_t *child, r4_error *e)
{
  r4_status s = 2 * (v->nodes + 1) > v->slots ? grow_edges(v, e) : R4_OK;
  if (s) return s;
  size_t k = slot_of(v, key_of(node, byte));
  if (!v->edge[k]) {
    s = new_node(v, e);
    if (s) return s;
    v->edge[k] = key_of(node, byte);
    v->child[k] = (uint32_t)(v->nodes - 1);
  }
  *child = v->child[k];
  return R4_OK;
}

/* ---- Pieces ---- */

static r4_status keep_piece(struct vocabulary *v, const char *piece, size_t id, r4_error *e)
{
  if (mem_more(&v->piece, &v->piece_room, id + 1, sizeof *v->piece, "a vocabulary", e)) return R4_E_MEMORY;
  char *copy = mem_copy(piece, e);
  if (!copy) return R4_E_MEMORY;
  while (v->size <= id) v->piece[v->size++] = NULL;
  r4_mem_free(v->piece[id]);
  v->piece[id] = copy;
  return R4_OK;
}

r4_status vocabulary_add(struct vocabulary *v, const char *piece, int32_t id, r4_error *e)
{
  if (id < 0 || id >= VOCABULARY_MOST)
    return r4_fail(e, R4_E_PARSE, "the piece \"%.40s\" has the id %d, expected 0 to %d", piece, id,
                   VOCABULARY_MOST - 1);
  if (strlen(piece) > PIECE_MOST)
    return r4_fail(e, R4_E_PARSE, "the piece \"%.40s\" has %zu bytes, expected at most %d", piece,
                   strlen(piece), PIECE_MOST);
  r4_status s = v->nodes ? R4_OK : new_node(v, e);
  uint32_t node = 0;
  for (const char *c = piece; !s && *c; c++) s = add_edge(v, node, *c, &node, e);
  if (!s) s = keep_piece(v, piece, (size_t)id, e);
  if (!s) v->id[node] = id;
  return s;
}

/* ---- Asking ---- */

static uint32_t next_node(const struct vocabulary *v, uint32_t node, char byte)
{
  size_t k = slot_of(v, key_of(node, byte));
  return v->edge[k] ? v->child[k] : VOCABULARY_NOWHERE;
}

uint32_t vocabulary_walk(const struct vocabulary *v, uint32_t node, const char *bytes, size_t n)
{
  if (!v->slots && n) return VOCABULARY_NOWHERE;
  for (size_t k = 0; k < n && node != VOCABULARY_NOWHERE; k++) node = next_node(v, node, bytes[k]);
  return node;
}

size_t vocabulary_longest(const struct vocabulary *v, uint32_t node, const char *text, size_t n, int32_t *id)
{
  size_t length = 0;
  for (size_t k = 0; k < n && node != VOCABULARY_NOWHERE; k++) {
    node = next_node(v, node, text[k]);
    if (node == VOCABULARY_NOWHERE || v->id[node] < 0) continue;
    *id = v->id[node];
    length = k + 1;
  }
  return length;
}

int32_t vocabulary_id(const struct vocabulary *v, const char *piece)
{
  uint32_t node = vocabulary_walk(v, 0, piece, strlen(piece));
  return node == VOCABULARY_NOWHERE || !v->nodes ? -1 : v->id[node];
}
