/* net_case.h - what holds for every net, whatever it is made of. Failures end the test. */
#ifndef NET_CASE_H
#define NET_CASE_H

#include "check.h"
#include "module/module.h"

r4_net *net_of(const char *text, r4_shape input);

/* The same names, shapes, offsets, layouts of files, and the same leaf. */
void assert_same_net(const r4_net *got, const r4_net *want);

/* The net printed and read again is the same net, and prints the same; so is the text that it keeps. */
void assert_reads_back(const r4_net *n);

/* Saved and loaded, with and without the net at hand, the weights are the same. Needs scratch_make. */
void assert_saves(const r4_net *n);

/* Numbers for parameters as they are when nets are in use: variances and scales around 1, all others around 0. */
void draw_param(const struct param *p, double *to);

/* The graph's outputs by plain loops, and by plans in double and float with one and two threads, agree; one and two
 * threads to the bit, where no kernel of oneDNN is used. */
void assert_plans_agree(const r4_graph *g, size_t n, const r4_id *out, const struct runner *want);

#endif
