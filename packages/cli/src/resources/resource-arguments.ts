import { CliError } from '../cli-error.ts'

/** What a command is asked to act on: whole types, or objects by name. Types are as typed: `rc`, `deployments.apps`. */
export type ResourceArguments =
  | { readonly form: 'types'; readonly types: readonly string[] }
  | { readonly form: 'names'; readonly names: readonly NamedResource[] }

export interface NamedResource {
  readonly type: string
  readonly name: string
}

/** Reads `TYPE[,TYPE] [NAME…]` and `TYPE/NAME…`. Throws a CliError that says what is wrong. */
export function parseResourceArguments(args: readonly string[], verb: string): ResourceArguments {
  const [first, ...rest] = args
  if (first === undefined) {
    throw new CliError(
      `You must specify the type of resource to ${verb}. Use "coracle api-resources" for a complete list of supported resources.`,
    )
  }
  if (args.some((each) => each.includes('/'))) return { form: 'names', names: args.map(parsePair) }
  const types = first.split(',').filter((type) => type !== '')
  if (types.length === 0) throw new CliError(`"${first}" names no type of resource`)
  if (rest.length === 0) return { form: 'types', types }
  return { form: 'names', names: types.flatMap((type) => rest.map((name) => ({ type, name }))) }
}

function parsePair(text: string): NamedResource {
  const [type = '', name = '', ...more] = text.split('/')
  if (name === '' && !text.includes('/')) {
    throw new CliError(
      "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'coracle get resource/<resource_name>' instead of 'coracle get resource resource/<resource_name>'",
    )
  }
  if (more.length > 0) throw new CliError('arguments in resource/name form may not have more than one slash')
  if (type === '' || name === '') {
    throw new CliError('arguments in resource/name form must have a single resource and name')
  }
  return { type, name }
}
