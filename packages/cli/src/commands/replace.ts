import { hasReason, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import { whileDoing } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { withLastApplied } from '../manifests/apply-object.ts'
import { kindText } from '../resources/object-text.ts'
import type { Session } from '../session.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags, type Placed } from './manifest-command.ts'
import { type RecreateFlags, recreate } from './recreate.ts'
import { keyOf } from './targets.ts'

export interface ReplaceFlags extends ManifestCommandFlags, RecreateFlags {
  /** Deletes what is there and creates it anew: also where fields differ that may not be changed. */
  readonly force?: boolean
  readonly saveConfig?: boolean
  readonly subresource?: string
}

const ownName = 'coracle-replace'

/** `coracle replace -f FILE` */
export async function replace(host: Host, flags: ReplaceFlags): Promise<void> {
  const { force, dryRun, gracePeriod } = flags
  if (force !== true && gracePeriod !== undefined) throw new CliError('--grace-period must have --force specified')
  if (force !== true && flags.timeout !== '0s') throw new CliError('--timeout must have --force specified')
  if (force === true && dryRun !== 'none') throw new CliError('--dry-run can not be used when --force is set')
  await forEachManifest(host, flags, { asList: false }, async (session, placed) => {
    const { source } = placed
    const object = flags.saveConfig === true ? withLastApplied(placed.object) : placed.object
    if ((object.metadata.name ?? '') === '') throw new CliError(`the ${kindText(placed.resource)} has no metadata.name`)
    if (dryRun === 'client') return { verb: 'replaced', object }
    const replaced =
      force === true
        ? recreate(
            session,
            { ...placed, object },
            host,
            { ...flags, fieldManager: flags.fieldManager ?? ownName },
            () => {
              const { name = '', namespace } = object.metadata
              const place = namespace === undefined ? '' : ` from ${namespace} namespace`
              host.stdout.write(`${kindText(placed.resource)} "${name}" deleted${place}\n`)
            },
          )
        : overwrite(session, { ...placed, object }, flags)
    return {
      verb: 'replaced',
      object: await replaced.catch((error: unknown) => {
        throw whileDoing(`error when replacing "${source}"`, error)
      }),
    }
  })
}

/** Puts the object in the place of what is there, whatever its version, unless the file names one. */
async function overwrite(
  { client }: Session,
  { resource, object }: Placed,
  { dryRun, validate, subresource, fieldManager = ownName }: ReplaceFlags,
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
    // The update says that it is not there.
    if (hasReason(error, 'NotFound')) return object
    throw error
  }
}
