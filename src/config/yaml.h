/* YAML as settings need it: one document, maps of maps, scalars and lists of scalars. Nested maps become
 * dotted keys. Anchors, aliases, tags and further documents are refused. */
#ifndef R4_CONFIG_YAML_H
#define R4_CONFIG_YAML_H

#include "base/error.h"

enum yaml_kind {
  YAML_MAP,  /* a map begins: its keys follow as "key.inner"   */
  YAML_ONE,  /* a scalar                                       */
  YAML_LIST, /* a list begins: its items follow with its key   */
  YAML_ITEM, /* a scalar of the list                           */
};

struct yaml_value {
  enum yaml_kind kind;
  const char *key;      /* dotted                                              */
  const char *text;     /* of a scalar: UTF-8; NULL otherwise                  */
  bool plain;           /* the scalar is written without quotes                */
  const char *at;       /* "FILE:LINE:COLUMN" of the key if a map, list or scalar begins, ... */
  const char *value_at; /* ... and of the value                            */
};

/* Hands each value of the document to sink, in order; stops at the first error. */
typedef r4_status yaml_sink(void *context, const struct yaml_value *v, r4_error *e);
r4_status yaml_read(const char *file, const void *data, size_t size, yaml_sink *sink, void *context,
                    r4_error *e);

#endif
