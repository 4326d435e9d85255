import { CliError, ConfigurationError, SummaryError } from '../cli-error.ts'
import { type ConnectionFlags, checkConnection, NowhereError } from '../connection.ts'
import type { Host } from '../host.ts'
import { hasFiles, type ManifestFlags } from '../manifests/load-manifests.ts'

/**
 * What is wrong with a connection, in kubectl's words where it needs one to find what arguments or files name: it tells it of each type,
 * and of files without `error:` before it.
 */
export function refusalOfSelection(args: readonly string[], flags: ManifestFlags): (refusal: unknown) => unknown {
  return (refusal) => {
    if (!(refusal instanceof CliError) || refusal instanceof SummaryError) return refusal
    const { message } = refusal
    if (hasFiles(flags)) return new SummaryError(message)
    const count = lookUps(args)
    if (count === 0) return refusal
    const isConfiguration = refusal instanceof ConfigurationError
    if (count === 1) return isConfiguration ? inConfiguration(refusal) : refusal
    return new AggregateError(Array.from({ length: count }, () => amongOthers(refusal)))
  }
}

const configurationHeading = 'Error in configuration: '

const inConfiguration = ({ message }: CliError): SummaryError => new SummaryError(configurationHeading + message)

/** How many types kubectl looks up by themselves: those of `svc,deploy web` it takes for `svc/web deploy/web`, and looks up none. */
function lookUps([types = '', ...names]: readonly string[]): number {
  const count = types === '' ? 0 : types.split(',').length
  return types.includes('/') || (count > 1 && names.length > 0) ? 0 : count
}

/** What is wrong with a connection, as one of several things. */
const amongOthers = (refusal: CliError): SummaryError =>
  new SummaryError(
    refusal instanceof ConfigurationError ? `invalid configuration: ${refusal.message}` : refusal.message,
  )

/** The same of commands that change objects, which know of a context or a key that is none before they look at files. */
export function refusalOfTargets(args: readonly string[], flags: ManifestFlags): (refusal: unknown) => unknown {
  const told = refusalOfSelection(args, flags)
  return (refusal) => (hasFiles(flags) && !(refusal instanceof ConfigurationError) ? refusal : told(refusal))
}

/**
 * The same of a command that looks for the namespace of the context while it looks for objects: what is wrong with that is told last. What it
 * is given is told by a client that is made first.
 */
export function refusalOfFinder(
  args: readonly string[],
  flags: ManifestFlags & ConnectionFlags,
): (refusal: unknown) => unknown {
  const withoutNamespace = refusalOfTargets(args, flags)
  return (refusal) => {
    const ofNamespace = flags.namespace === undefined ? namespaceRefusal(refusal) : undefined
    if (!(refusal instanceof CliError) || ofNamespace === undefined) return withoutNamespace(refusal)
    const ofTypes = Array.from({ length: hasFiles(flags) ? 0 : lookUps(args) }, () => refusal)
    if (ofTypes.length === 0) return inConfiguration(ofNamespace)
    const all = [...ofTypes, ofNamespace]
    // kubectl knows a context that is not there by these words, wherever they stand.
    return ofNamespace.message.startsWith('context was not found')
      ? new SummaryError([configurationHeading, ...all.map(({ message }) => `* ${message}`)].join('\n'))
      : new AggregateError(all.map(amongOthers))
  }
}

/** Throws what is wrong with the namespace of the context: such a command looks for it where it asks no server, too. */
export async function checkNamespace(host: Host, flags: ConnectionFlags): Promise<void> {
  if (flags.namespace !== undefined) return
  await checkConnection(host, { ...flags, makesClientFirst: true }).catch((refusal: unknown) => {
    const ofNamespace = namespaceRefusal(refusal)
    if (ofNamespace !== undefined) throw inConfiguration(ofNamespace)
  })
}

function namespaceRefusal(refusal: unknown): ConfigurationError | undefined {
  if (refusal instanceof NowhereError) return new ConfigurationError(refusal.ofNamespace)
  return refusal instanceof ConfigurationError ? refusal : undefined
}

/** Throws why flags are refused, and before that, as kubectl does, what is wrong with the connection. */
export async function refuseConnected(host: Host, flags: ConnectionFlags, refusal: unknown): Promise<never> {
  await checkConnection(host, flags)
  throw refusal
}
