/** How much of a stack is kept, in characters. In a file without schemas: slots load nothing else of this package. */
export const MAX_STACK = 8_192;
