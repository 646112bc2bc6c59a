// File calls of a program that wait for another process.
#pragma once

/// From now on, each call that reads or changes a name in a folder is printed, and waits for a byte from standard input.
void held_calls_begin(const char *folder);
