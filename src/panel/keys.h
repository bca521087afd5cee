/* SPDX-License-Identifier: MIT */
/* Keys change the model. Printable keys are themselves; the others have numbers above Unicode. */
#ifndef SMEFF_PANEL_KEYS_H
#define SMEFF_PANEL_KEYS_H

#include "panel/model.h"

enum panel_key {
    PANEL_KEY_ESC = 27,
    PANEL_KEY_BACKSPACE = 127,
    PANEL_KEY_ENTER = 10,
    PANEL_KEY_TAB = 9,
    PANEL_KEY_REDRAW = 12, /* Ctrl-L */
    PANEL_KEY_CLEAR = 21,  /* Ctrl-U */
    PANEL_KEY_LEFT = 0x110000,
    PANEL_KEY_RIGHT,
    PANEL_KEY_UP,
    PANEL_KEY_DOWN,
    PANEL_KEY_PAGE_UP,
    PANEL_KEY_PAGE_DOWN,
    PANEL_KEY_HOME,
    PANEL_KEY_END,
    PANEL_KEY_F1,
    PANEL_KEY_F10,
};

/* What the caller has to do for a key. */
enum panel_action { PANEL_NOTHING, PANEL_QUIT, PANEL_RECORD, PANEL_REDRAW };

enum panel_action keys_press(struct model *m, uint32_t key);

#endif
