import { CliError } from '../cli-error.ts'

/** What a command is asked to act on: whole types, or objects by name. Types are as typed: `rc`, `deployments.apps`. */
export type ResourceArguments =
  | { readonly form: 'types'; readonly types: readonly string[] }
  /** `isPairs`: as TYPE/NAME, each by itself. */
  | { readonly form: 'names'; readonly isPairs: boolean; readonly names: readonly NamedResource[] }

export interface NamedResource {
  readonly type: string
  readonly name: string
}

/**
 * Reads `TYPE[,TYPE] [NAME…]` and `TYPE/NAME…`. Throws a CliError that says what is wrong, as do the functions that use it in the order
 * in which kubectl's resource builder finds mistakes.
 */
export function parseResourceArguments(args: readonly string[], verb: string): ResourceArguments {
  const [first, ...rest] = namedByPairs(args)
  if (first === undefined) {
    throw new CliError(
      `You must specify the type of resource to ${verb}. Use "coracle api-resources" for a complete list of supported resources.`,
    )
  }
  if (hasPairs([first, ...rest])) {
    if (![first, ...rest].every((each) => each.includes('/'))) throw new CliError(typeBesidePairs)
    return { form: 'names', isPairs: true, names: [first, ...rest].map(parsePair) }
  }
  if (rest.length === 0) return { form: 'types', types: [...new Set(first.split(','))] }
  return { form: 'names', isPairs: false, names: rest.map((name) => ({ type: first, name })) }
}

/** Whether arguments are in the form TYPE/NAME, or mean the same. */
export const hasPairs = (args: readonly string[]): boolean => namedByPairs(args).some((each) => each.includes('/'))

/** `a,b c` as `a/c b/c` */
function namedByPairs(args: readonly string[]): readonly string[] {
  const [first = '', ...names] = args
  const types = [...new Set(first.split(','))]
  if (types.length < 2 || names.length === 0) return args
  return types.flatMap((type) => names.map((name) => `${type}/${name}`))
}

const typeBesidePairs =
  "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'coracle get resource/<resource_name>' instead of 'coracle get resource resource/<resource_name>'"

/** Reads `TYPE/NAME`. Throws a CliError for what has more slashes, or lacks a part. */
export function parsePair(text: string): NamedResource {
  const [type = '', name = '', ...more] = text.split('/')
  if (more.length > 0) throw new CliError('arguments in resource/name form may not have more than one slash')
  if (type === '' || name === '' || type.includes(',')) {
    throw new CliError('arguments in resource/name form must have a single resource and name')
  }
  return { type, name }
}
