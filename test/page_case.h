/* A small report, in memory, with whatever names a test wants. */
#ifndef PAGE_CASE_H
#define PAGE_CASE_H

#include "scratch.h"

enum { PAGE_RUNS = 3, PAGE_SEEDS = 2, PAGE_SIDE = 6 };

struct page_case {
  const char *run_name[PAGE_RUNS];
  const char *class_name[2];
  bool no_masks, no_images;
  size_t groups; /* 0: the classes */
  /* Made by page_case_make: */
  r4_data *d;
  r4_net *net;
  float *weights;
  r4_settings *settings[PAGE_RUNS];
  r4_measured *measured;
  r4_report_run run[PAGE_RUNS];
  const char *folder[PAGE_SEEDS];
  int64_t seed[PAGE_SEEDS];
};

/* Folders have no files in them. */
void page_case_make(struct page_case *c);
void page_case_free(struct page_case *c);
/* The page, in new memory (r4_mem_free). */
char *page_case_write(const struct page_case *c, const r4_report_options *o);

#endif
