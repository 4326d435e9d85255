import { formatTime, type KubernetesObject } from '@coracle/api'
import { StateReading } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type PlaceFlags, placeFlagText, placeToStart } from '../local/cluster-place.ts'
import { writeImportRecord } from '../local/import-record.ts'
import { Progress } from '../output/progress.ts'
import { type ConnectionFlags, withSessionOverAll } from '../session.ts'
import { fillPlace } from './snapshot.ts'
import { tellStateReport } from './state-report.ts'

export interface ImportFlags extends PlaceFlags, ConnectionFlags {
  readonly withoutSecrets?: boolean
  readonly overwrite?: boolean
}

/** The cluster that is made where none is named. */
const defaultName = 'imported'

/**
 * `coracle import`: reads all objects of a cluster by lists, and puts them into a data directory. What would reach out of a copy,
 * or means nothing in it, is left out, and said. Nothing is written to the source.
 */
export async function importCluster(host: Host, flags: ImportFlags): Promise<void> {
  const { name, dataDir, withoutSecrets = false, overwrite = false, ...connection } = flags
  const place = placeToStart(host, dataDir === undefined ? { name: name ?? defaultName } : flags)
  const progress = new Progress(host, 'reading objects')
  const leftOut = new Map<string, number>()
  try {
    await withSessionOverAll(host, connection, async ({ client, server }) => {
      const reading = new StateReading({ client, resources: await client.discover() }, host.environment)
      // Said before the objects are there: without it a start would run their pods as processes of this host.
      const mark = () =>
        writeImportRecord(place.directory, { source: server, importedAt: formatTime(host.environment.clock.now()) })
      const pages = copied(reading, withoutSecrets, leftOut)
      const report = await fillPlace(host, place, pages, { overwrite, beforeReplacing: mark }, progress)
      progress.end()
      host.stdout.write(
        `${report.written} objects of ${server} imported into ${place.shown}: start it with \`coracle up${placeFlagText(place)}\`\n`,
      )
      for (const { resource, message } of reading.gaps)
        host.stderr.write(`Warning: left out: ${resource}: ${message}\n`)
      tellStateReport(host, report)
    })
  } finally {
    progress.end()
  }
  host.stdout.write('left out on purpose: Events\n')
  for (const [text, count] of leftOut) host.stdout.write(`left out on purpose: ${count} ${text}\n`)
}

async function* copied(
  reading: StateReading,
  withoutSecrets: boolean,
  leftOut: Map<string, number>,
): AsyncIterable<readonly KubernetesObject[]> {
  let isEmpty = true
  for await (const { objects } of reading.pages()) {
    isEmpty = false
    yield objects.flatMap((object) => {
      const { copy, why } = copyOf(object, withoutSecrets)
      if (why !== undefined) leftOut.set(why, (leftOut.get(why) ?? 0) + 1)
      return copy === undefined ? [] : [copy]
    })
  }
  // Nothing takes the place of what is there.
  if (isEmpty) throw new CliError('no object of the cluster may be read: list rights are needed')
}

/** What a copy gets of an object, and what of it not, and why. */
interface Copied {
  readonly copy: KubernetesObject | undefined
  readonly why?: string
}

function copyOf(object: KubernetesObject, withoutSecrets: boolean): Copied {
  const { spec } = object as KubernetesObject & { readonly spec?: Reaching }
  switch (object.kind) {
    case 'Lease':
      return { copy: undefined, why: 'Leases: signs of life of who is not in the copy' }
    case 'Secret':
      return withoutSecrets ? { copy: undefined, why: 'Secrets: as was asked' } : { copy: object }
    case 'ValidatingWebhookConfiguration':
    case 'MutatingWebhookConfiguration':
      return { copy: undefined, why: `${object.kind}s: nobody answers them in the copy` }
    case 'APIService':
      return spec?.service === undefined
        ? { copy: object }
        : { copy: undefined, why: 'APIServices of other servers: nobody answers them in the copy' }
    case 'CustomResourceDefinition':
      if (spec?.conversion?.strategy !== 'Webhook') return { copy: object }
      return {
        copy: { ...object, spec: { ...spec, conversion: { strategy: 'None' } } } as KubernetesObject,
        why: 'conversion webhooks of custom kinds: nobody answers them in the copy',
      }
    default:
      return { copy: object }
  }
}

/** What of a spec leads to other servers. */
interface Reaching {
  readonly service?: unknown
  readonly conversion?: { readonly strategy?: string }
}
