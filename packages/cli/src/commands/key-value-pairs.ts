import { CliError } from '../cli-error.ts'

/** Whether an argument sets a key, `KEY=VALUE`, or takes one away, `KEY-`. */
const isPair = (text: string): boolean => text.indexOf('=') > 0 || (text.endsWith('-') && text !== '-')

/** Resources come first, then pairs, which stand for changes of what `noun` says. Throws a CliError where a resource is behind them. */
export function splitPairs(
  args: readonly string[],
  noun: string,
): { readonly resources: readonly string[]; readonly pairs: readonly string[] } {
  const first = args.findIndex(isPair)
  const [resources, pairs] = first < 0 ? [args, []] : [args.slice(0, first), args.slice(first)]
  const misplaced = pairs.find((text) => !isPair(text))
  if (misplaced === undefined) return { resources, pairs }
  throw new CliError(`all resources must be specified before ${noun} changes: ${misplaced}`)
}
