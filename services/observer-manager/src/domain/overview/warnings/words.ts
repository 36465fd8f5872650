export const counted = (observers: number): string => `${observers} observer${observers === 1 ? "" : "s"}`;
