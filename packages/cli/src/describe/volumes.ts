import { isJsonObject, type JsonObject, type Volume } from '@coracle/api'
import { describeClaimSpec } from './claim-spec.ts'
import type { Description } from './description.ts'
import { describeVolumeSource } from './volume-sources.ts'

/** Volumes of a pod; of a template with kubectl's deeper indentation. */
export function describeVolumes(text: Description, volumes: readonly Volume[] = [], indent: '' | '  ' = ''): void {
  if (volumes.length === 0) {
    text.line(0, `${indent}Volumes:\t<none>`)
    return
  }
  text.line(0, `${indent}Volumes:`)
  for (const volume of volumes) {
    text.line(1, `${indent === '' ? '' : ' '}${volume.name}:`)
    describeSource(text, volume)
  }
}

/** The sources whose description is no list of fields; all others follow from a table. */
function describeSource(text: Description, volume: Volume): void {
  const { projected, downwardAPI, ephemeral } = volume
  if (projected !== undefined) {
    text.field(2, 'Type', 'Projected (a volume that contains injected data from multiple sources)')
    describeProjected(text, listOf(projected.sources))
  } else if (downwardAPI !== undefined) {
    text.field(2, 'Type', 'DownwardAPI (a volume populated by information about the pod)').heading(2, 'Items')
    for (const item of listOf(downwardAPI.items)) text.line(3, `${downwardText(item)} -> ${item.path}`)
  } else if (ephemeral !== undefined) {
    const about = 'an inline specification for a volume that gets created and deleted with the pod'
    text.field(2, 'Type', `EphemeralVolume (${about})`)
    const template = ephemeral.volumeClaimTemplate
    if (template !== undefined) describeClaimSpec(text, 2, { ...template, metadata: template.metadata ?? {} })
  } else if (!describeVolumeSource(text, volume as JsonObject)) text.line(1, '<unknown>')
}

function describeProjected(text: Description, sources: readonly JsonObject[]): void {
  for (const { secret, configMap, downwardAPI, serviceAccountToken } of sources) {
    if (isJsonObject(secret)) {
      text.field(2, 'SecretName', String(secret.name ?? '')).field(2, 'Optional', secret.optional === true)
    } else if (downwardAPI !== undefined) text.field(2, 'DownwardAPI', true)
    else if (isJsonObject(configMap)) {
      text.field(2, 'ConfigMapName', String(configMap.name ?? '')).field(2, 'Optional', configMap.optional === true)
    } else if (isJsonObject(serviceAccountToken)) {
      text.field(2, 'TokenExpirationSeconds', String(serviceAccountToken.expirationSeconds ?? ''))
    }
  }
}

/** What an item of a downward API volume holds: the path of a field, or the name of a resource. */
function downwardText({ fieldRef, resourceFieldRef }: JsonObject): string {
  if (isJsonObject(fieldRef)) return String(fieldRef.fieldPath)
  return isJsonObject(resourceFieldRef) ? String(resourceFieldRef.resource) : ''
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])
