#include "data/format/folder_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- Lists ---- */

static bool copy_string(const char **to, const char *from, r4_error *e)
{
  return !from || (*to = mem_copy(from, e));
}

static void listed_clear(struct listed *one)
{
  const char *own[] = {one->file, one->mask, one->mask2, one->label, one->group, one->id};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) r4_mem_free((void *)own[k]);
}

/* The outlines of an image, which then has no other mask. An image without outlines has no mask. */
static r4_status find_marks(const struct listing *l, const struct listed *one, size_t *marks, r4_error *e)
{
  *marks = 0;
  if (!l->annotations) return R4_OK;
  r4_status s = annotations_find(l->annotations, one->file, marks, e);
  if (s) return s;
  if (*marks && !l->annotations->image[*marks - 1].n) *marks = 0;
  if (*marks && one->mask)
    return r4_fail(e, R4_E_PARSE, "%s/%s: has a mask, %s, and outlines in %s, expected one of them",
                   l->folder, one->file, one->mask, l->annotations->file);
  return R4_OK;
}

/* "images" itself may be a link, to a folder on another disk: then nothing may lead out of that. */
static r4_status check_image(const char *folder, const char *file, r4_error *e)
{
  static const char images[] = "images/";
  bool below = !strncmp(file, images, sizeof images - 1);
  r4_status plain = file_check_inside(folder, file, below ? NULL : e);
  if (!plain || !below) return plain;
  char *place = file_join(folder, images, e);
  r4_status s = place ? file_check_inside(place, file + sizeof images - 1, e) : R4_E_MEMORY;
  r4_mem_free(place);
  return s;
}

r4_status listing_add(struct listing *l, const struct listed *one, r4_error *e)
{
  size_t marks = 0;
  r4_status s = one->file ? check_image(l->folder, one->file, e) : R4_OK;
  if (!s && one->mask) s = file_check_inside(l->folder, one->mask, e);
  if (!s && one->mask2) s = file_check_inside(l->folder, one->mask2, e);
  if (!s) s = find_marks(l, one, &marks, e);
  if (s) return s;
  if (mem_more(&l->at, &l->capacity, l->n + 1, sizeof *l->at, "the list of files", e)) return R4_E_MEMORY;
  struct listed copy = {.line = one->line, .named = one->named, .split = one->split, .marks = marks};
  if (copy_string(&copy.file, one->file, e) && copy_string(&copy.mask, one->mask, e) &&
      copy_string(&copy.mask2, one->mask2, e) && copy_string(&copy.label, one->label, e) &&
      copy_string(&copy.group, one->group, e) && copy_string(&copy.id, one->id, e)) {
    l->at[l->n++] = copy;
    return R4_OK;
  }
  listed_clear(&copy);
  return R4_E_MEMORY;
}

r4_status listing_add_extra(struct listing *l, const char *column, const char *value, r4_error *e)
{
  size_t k = 0;
  if (!l->extras && !(l->extras = extras_new(e))) return R4_E_MEMORY;
  r4_status s = extras_column(l->extras, column, &k, e);
  return s || k == EXTRAS_MOST ? s : extras_set(l->extras, k, l->n - 1, value, e);
}

r4_status listing_leave_out(struct left_out *all, const char *folder, const char *name, r4_error *e)
{
  if (all->n++) return R4_OK;
  struct text path = {0};
  text_add(&path, "%s%s%s", folder, *folder ? "/" : "", name);
  all->first = text_done(&path, name, e);
  return all->first ? R4_OK : R4_E_MEMORY;
}

r4_status listing_tell_left_out(const struct listing *l, r4_data *d, r4_error *e)
{
  const struct left_out *files = &l->skipped, *folders = &l->bare;
  r4_status s = R4_OK;
  if (files->n)
    s = data_add_note(d, e, "%s: %zu file%s PNG or JPEG and left out, %.120s first", l->folder, files->n,
                      files->n == 1 ? " is not" : "s are not", files->first);
  if (!s && folders->n)
    s = data_add_note(d, e, "%s: %zu folder%s no PNG or JPEG file and so no class, %.120s first", l->folder, folders->n,
                      folders->n == 1 ? " has" : "s have", folders->first);
  return s;
}

void listing_clear(struct listing *l)
{
  r4_mem_free(l->skipped.first);
  r4_mem_free(l->bare.first);
  l->skipped = l->bare = (struct left_out){0};
  for (size_t i = 0; i < l->n; i++) listed_clear(l->at + i);
  r4_mem_free(l->at);
  annotations_free(l->annotations);
  extras_drop(l->extras);
  l->annotations = NULL;
  l->extras = NULL;
  l->at = NULL;
  l->n = l->capacity = 0;
}

const char *listing_masks(const struct listing *l)
{
  for (size_t i = 0; i < l->n; i++)
    if (l->at[i].mask || l->at[i].marks) return l->at[i].mask ? l->at[i].mask : l->annotations->file;
  return NULL;
}

void listing_name(const struct listing *l, size_t i, char name[LISTING_NAME])
{
  const struct listed *one = l->at + i;
  if (l->table)
    snprintf(name, LISTING_NAME, "%s/%s:%zu: file %s", l->folder, l->table, one->line, one->file);
  else
    snprintf(name, LISTING_NAME, "%s/%s", l->folder, one->file);
}

/* ---- Names and their numbers ---- */

struct place {
  const char *name;
  size_t i;
};

static bool is_whole_number(const char *s)
{
  s += *s == '-';
  size_t digits = strspn(s, "0123456789");
  return digits && digits <= 18 && !s[digits];
}

static int by_name(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  int order = strcmp(p->name, q->name);
  return order ? order : (p->i > q->i) - (p->i < q->i);
}

static int by_number(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  long long x = strtoll(p->name, NULL, 10), y = strtoll(q->name, NULL, 10);
  return x == y ? by_name(a, b) : x < y ? -1 : 1;
}

/* Which of the strings of an example is meant. */
typedef const char *field(const struct listed *one);

static const char *label_of(const struct listed *one)
{
  return one->label;
}

static const char *group_of(const struct listed *one)
{
  return one->group;
}

static const char *id_of(const struct listed *one)
{
  return one->id;
}

static const char *mask_of(const struct listed *one)
{
  return one->mask;
}

static const char *file_of(const struct listed *one)
{
  return one->file;
}

/* The distinct values of a field, in order, and number[i] of that of example i, DATA_NO_ID where it has none. */
static r4_status number_names(const struct listing *l, field *of, struct names *names, uint32_t *number,
                              r4_error *e)
{
  struct place *place = mem_new(l->n ? l->n : 1, sizeof *place, "names", e);
  if (!place) return R4_E_MEMORY;
  size_t n = 0;
  bool numbers = true;
  for (size_t i = 0; i < l->n; i++) {
    number[i] = DATA_NO_ID;
    const char *name = of(l->at + i);
    if (!name) continue;
    place[n++] = (struct place){name, i};
    numbers = numbers && is_whole_number(name);
  }
  qsort(place, n, sizeof *place, numbers ? by_number : by_name);
  r4_status s = R4_OK;
  for (size_t k = 0; !s && k < n; k++) {
    if (!k || strcmp(place[k].name, place[k - 1].name)) s = names_add(names, place[k].name, NULL, e);
    number[place[k].i] = (uint32_t)names->n - 1;
  }
  r4_mem_free(place);
  return s;
}

/* ---- Records ---- */

static r4_status unknown_class(const struct listing *l, size_t i, r4_error *e)
{
  char name[LISTING_NAME], known[LISTING_NAME] = "";
  size_t n = 0;
  for (size_t k = 0; l->classes[k] && n < sizeof known; k++)
    n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", k ? ", " : "", l->classes[k]);
  listing_name(l, i, name);
  return r4_fail(e, R4_E_PARSE, "%s: label '%s', expected one of %s", name, l->at[i].label, known);
}

/* Labels among the classes that are given. */
static r4_status number_classes(const struct listing *l, struct names *classes, uint32_t *number, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; !s && l->classes[k]; k++) s = names_add(classes, l->classes[k], NULL, e);
  for (size_t i = 0; !s && i < l->n; i++)
    if (!names_find(classes, l->at[i].label, number + i)) s = unknown_class(l, i, e);
  return s;
}

/* number[i] is that of the file, or of the mask, of example i: no two may be the same. */
static r4_status check_once(const struct listing *l, bool masks, const uint32_t *number, r4_error *e)
{
  uint32_t *first = mem_new(l->n ? l->n : 1, sizeof *first, "names", e); /* example + 1 */
  if (!first) return R4_E_MEMORY;
  r4_status s = R4_OK;
  for (size_t i = 0; !s && i < l->n; i++) {
    if (number[i] == DATA_NO_ID) continue;
    uint32_t *seen = first + number[i];
    char name[LISTING_NAME];
    if (*seen) listing_name(l, i, name);
    if (*seen && masks)
      s = r4_fail(e, R4_E_PARSE, "%s: its mask %s would be that of %s as well", name, l->at[i].mask,
                  l->at[*seen - 1].file);
    else if (*seen)
      s = r4_fail(e, R4_E_PARSE, "%s: is in line %zu already", name, l->at[*seen - 1].line);
    *seen = (uint32_t)i + 1;
  }
  r4_mem_free(first);
  return s;
}

static r4_status check_masks(const struct listing *l, uint32_t *number, r4_error *e)
{
  struct names *masks = names_new(e);
  r4_status s = masks ? number_names(l, mask_of, masks, number, e) : R4_E_MEMORY;
  if (!s) s = check_once(l, true, number, e);
  names_drop(masks);
  return s;
}

static bool any(const struct listing *l, field *of)
{
  for (size_t i = 0; i < l->n; i++)
    if (of(l->at + i)) return true;
  return false;
}

r4_status listing_records(const struct listing *l, r4_data *d, r4_error *e)
{
  uint32_t *number = mem_new(l->n ? l->n : 1, sizeof *number, "names", e);
  if (!number) return R4_E_MEMORY;
  r4_status s =
    l->classes ? number_classes(l, d->classes, number, e) : number_names(l, label_of, d->classes, number, e);
  for (size_t i = 0; !s && i < l->n; i++) {
    d->record[i].label = (int32_t)number[i];
    d->record[i].split = (uint8_t)l->at[i].split;
  }
  if (!s && any(l, group_of)) {
    s = number_names(l, group_of, d->groups, number, e);
    for (size_t i = 0; !s && i < l->n; i++) d->record[i].group = (int32_t)number[i];
  }
  if (!s && any(l, id_of)) {
    s = (d->ids = names_new(e)) ? number_names(l, id_of, d->ids, number, e) : R4_E_MEMORY;
    for (size_t i = 0; !s && i < l->n; i++) d->record[i].id = number[i];
  }
  if (!s) s = (d->files = names_new(e)) ? number_names(l, file_of, d->files, number, e) : R4_E_MEMORY;
  for (size_t i = 0; !s && i < l->n; i++) d->record[i].file = number[i];
  if (!s) s = check_once(l, false, number, e);
  if (!s) s = check_masks(l, number, e);
  if (!s) d->extras = extras_share(l->extras);
  r4_mem_free(number);
  return s;
}
