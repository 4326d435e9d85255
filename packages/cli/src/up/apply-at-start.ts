import { apiVersionOf, builtinResources } from '@coracle/api'
import type { Client } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
import { applyObject } from '../manifests/apply-object.ts'
import type { Manifest } from '../manifests/parse-manifests.ts'
import { type Placement, placeObject } from '../manifests/place-object.ts'
import type { Tell } from './activity.ts'
import { aboutText } from './log-changes.ts'

/** Applies manifests to the cluster of this process, and tells of each. One that fails does not keep the others from it. */
export async function applyAtStart(
  client: Client,
  manifests: readonly Manifest[],
  placement: Placement,
  tell: Tell,
): Promise<void> {
  for (const manifest of manifests) {
    const { kind, metadata } = manifest.object
    const about = aboutText(kind, metadata.namespace ?? placement.namespace, metadata.name ?? '')
    try {
      const outcome = await applyManifest(client, manifest, placement)
      tell({ about, what: `${outcome} from ${manifest.source}`, tone: 'plain' })
    } catch (error) {
      tell({ about, what: `not applied from ${manifest.source}: ${describeError(error)}`, tone: 'bad' })
    }
  }
}

async function applyManifest(client: Client, { object }: Manifest, placement: Placement): Promise<string> {
  const { apiVersion, kind, metadata } = object
  const resource = builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (resource === undefined) throw new CliError(`no matches for kind "${kind}" in version "${apiVersion}"`)
  if (metadata.name === undefined) throw new CliError('metadata.name is not set')
  const { outcome } = await applyObject(client, resource, placeObject(object, resource, placement), {
    fieldValidation: 'Strict',
  })
  return outcome
}
