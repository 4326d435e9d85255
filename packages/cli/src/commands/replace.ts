import type { KubernetesObject } from '@coracle/api'
import { isUnreachableServer } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { checkConnection } from '../connection.ts'
import { whileDoing } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { hasFiles } from '../manifests/load-manifests.ts'
import { OutcomePrinter } from '../output/outcome-printer.ts'
import { throwLate } from '../refused-value.ts'
import type { Session } from '../session.ts'
import { propagationPolicy } from './cascade.ts'
import { fieldValidation, forEachManifest, type Placed } from './manifest-command.ts'
import { rawRequest } from './raw-request.ts'
import { replaceByForce } from './replace-by-force.ts'
import { type ReplaceFlags, replaceFieldManager, replacementOf } from './replacement.ts'
import { keyOf } from './targets.ts'

/** `coracle replace -f FILE` */
export async function replace(host: Host, flags: ReplaceFlags): Promise<void> {
  throwLate(flags, 'validate')
  throwLate(flags, 'dryRun')
  // As with kubectl, a wrong -o is told before other flags are judged.
  await checkConnection(host, flags)
  await OutcomePrinter.for(host, flags)
  checkFlags(flags)
  if (flags.raw !== undefined) return rawRequest(host, 'PUT', flags.raw, flags)
  if (flags.force === true) return replaceByForce(host, flags)
  await forEachManifest(host, flags, { asList: false }, async (session, placed) => {
    const replacement = replacementOf(placed, flags)
    if (flags.dryRun === 'client') return { verb: 'replaced', object: replacement.object }
    const replaced = await overwrite(session, replacement, flags).catch((error: unknown) => {
      throw whileDoing(`error when replacing "${placed.source}"`, error)
    })
    return { verb: 'replaced', object: replaced }
  })
}

/** Throws a CliError, in kubectl's words, on flags that contradict each other. */
function checkFlags(flags: ReplaceFlags): void {
  const { force, dryRun, gracePeriod, timeout, cascade } = flags
  propagationPolicy(cascade)
  if (!hasFiles(flags)) throw new CliError('must specify one of -f and -k')
  if (force !== true && gracePeriod >= 0) throw new CliError('--grace-period must have --force specified')
  if (force !== true && timeout !== '0s') throw new CliError('--timeout must have --force specified')
  if (force === true && dryRun !== 'none') throw new CliError('--dry-run can not be used when --force is set')
}

/** Puts the object in the place of what is there, whatever its version, unless the file names one. */
async function overwrite(
  { client }: Session,
  { resource, object }: Placed,
  { dryRun, validate, subresource, fieldManager = replaceFieldManager }: ReplaceFlags,
): Promise<KubernetesObject> {
  const versioned = object.metadata.resourceVersion === undefined ? await withVersion(client, resource, object) : object
  return client.update(resource, versioned, {
    fieldManager,
    fieldValidation: fieldValidation[validate],
    dryRun: dryRun === 'server',
    ...(subresource === undefined ? {} : { subresource }),
  })
}

async function withVersion(
  client: Session['client'],
  resource: Placed['resource'],
  object: KubernetesObject,
): Promise<KubernetesObject> {
  try {
    const { resourceVersion } = (await client.get<KubernetesObject>(resource, keyOf(object))).metadata
    return {
      ...object,
      metadata: { ...object.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    }
  } catch (error) {
    if (isUnreachableServer(error)) throw error
    // Why it could not be read is for the update to tell.
    return object
  }
}
