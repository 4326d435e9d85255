import { CliError, ConfigurationError, SummaryError } from '../cli-error.ts'
import { type ConnectionFlags, checkConnection } from '../connection.ts'
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
    const [types = ''] = args
    if (types.includes('/')) return refusal
    const isConfiguration = refusal instanceof ConfigurationError
    const count = types.split(',').length
    if (count === 1) return isConfiguration ? new SummaryError(`Error in configuration: ${message}`) : refusal
    const told = new SummaryError(isConfiguration ? `invalid configuration: ${message}` : message)
    return new AggregateError(Array.from({ length: count }, () => told))
  }
}

/** The same of commands that change objects, which know of a context or a key that is none before they look at files. */
export function refusalOfTargets(args: readonly string[], flags: ManifestFlags): (refusal: unknown) => unknown {
  const told = refusalOfSelection(args, flags)
  return (refusal) => (hasFiles(flags) && !(refusal instanceof ConfigurationError) ? refusal : told(refusal))
}

/** Throws why flags are refused, and before that, as kubectl does, what is wrong with the connection. */
export async function refuseConnected(host: Host, flags: ConnectionFlags, refusal: unknown): Promise<never> {
  await checkConnection(host, flags)
  throw refusal
}
