/* SPDX-License-Identifier: MIT */
/* What is served: paths, and the texts made of the newest snapshot. Knows nothing of sockets. */
#ifndef SMEFF_HTTP_SITE_H
#define SMEFF_HTTP_SITE_H

#include "base/error.h"
#include "collect/frames.h"
#include "collect/snapshot.h"
#include "collect/trace.h"
#include "http/request.h"

struct site;

/* Texts that the owner makes of a snapshot (NULL = none yet), once each, when first asked for. */
struct site_ops {
    void (*metrics)(void *self, const struct snapshot *s, struct buf *out);
    void (*dcgm)(void *self, const struct snapshot *s, struct buf *out);
};

/* trace, ops and self live as long as the site. this_host: this machine's name. */
enum status site_create(struct site **out, const struct trace *trace, const char *this_host,
                        const struct site_ops *ops, void *self, struct error *err);
void site_destroy(struct site *s); /* accepts NULL */

/* The newest snapshot; the site owns it from now on. */
void site_take(struct site *s, struct snapshot *fresh);

/* Why it is not well; "" = it is. Copied. */
void site_tell(struct site *s, const char *reason);

/* Answers a request, but for its password. out->body is a reference of the caller's. */
void site_answer(struct site *s, const struct http_request *r, struct http_answer *out);

/* What gate_refuses says, for this machine's name. */
bool site_refuses(const struct site *s, const struct http_request *r, struct http_answer *out);

/* Messages of the event streams, a reference of the caller's each; NULL: there is nothing to say
 * (or no memory). */
struct blob *site_hello(void);                         /* the first one of a stream */
struct blob *site_status_event(struct site *s);        /* of the newest snapshot */
struct blob *site_frame_event(const struct frames *f); /* since the last frame */

#endif
