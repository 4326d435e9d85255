/**
 * Calls `action` and keeps the `ExperimentalWarning`s that it causes from the user's terminal. Early releases of Node.js 24
 * warn when their SQLite is loaded, which tells the user of a program nothing.
 */
export function withoutExperimentalWarnings<T>(action: () => T): T {
  const { emitWarning } = process
  const emitOther = (...warning: unknown[]): void => {
    const [, kind] = warning
    const type = typeof kind === 'object' && kind !== null && 'type' in kind ? kind.type : kind
    if (type !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, warning)
  }
  process.emitWarning = emitOther as typeof emitWarning
  try {
    return action()
  } finally {
    process.emitWarning = emitWarning
  }
}
