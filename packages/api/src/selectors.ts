/** Selectors, by labels and by fields. */
export * from './field-selectors.ts'
export * from './label-selectors.ts'
