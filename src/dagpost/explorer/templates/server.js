"use strict";
// What the page asks the server on this machine.

const Explorer = {};
