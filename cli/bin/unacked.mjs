#!/usr/bin/env node
// Committed rather than built, so that npm finds something to link before the first build.
import "../bundle/main.js";
