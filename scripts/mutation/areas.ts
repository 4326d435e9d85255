/** A part of the project whose tests must notice when its code is changed. */
export interface MutationArea {
  /** What is mutated, as globs relative to the repository; `!` in front takes files out again. */
  readonly mutate: readonly string[]
}

/** The share of mutants, in percent, that the tests of every area must kill. */
export const scoreMin = 85

const noTests = ['!**/*.test.ts', '!**/testing/**']

export const areas: Readonly<Record<string, MutationArea>> = {
  store: { mutate: ['packages/store/src/**/*.ts', ...noTests] },
  scheduler: { mutate: ['packages/scheduler/src/**/*.ts', ...noTests] },
  patch: { mutate: ['packages/api/src/patch/**/*.ts', ...noTests] },
  selectors: {
    mutate: [
      'packages/api/src/selectors.ts',
      'packages/api/src/selector-operators.ts',
      'packages/api/src/label-selectors.ts',
      'packages/api/src/label-selector-parser.ts',
      'packages/api/src/field-selectors.ts',
    ],
  },
  plans: { mutate: ['packages/controllers/src/**/plan.ts'] },
  'watch-cache': { mutate: ['packages/apiserver/src/watch-cache/**/*.ts', ...noTests] },
}
