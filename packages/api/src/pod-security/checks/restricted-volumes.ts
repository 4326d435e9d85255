import type { Volume } from '../../kinds/core/pod/volume.ts'
import type { Check, PodCheck } from '../check.ts'
import { distinct, plural, quoted } from '../wording.ts'

type VolumeType = Exclude<keyof Volume, 'name'>

const allowed: readonly VolumeType[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

const check: PodCheck = ({ spec: { volumes = [] } }) => {
  const bad = volumes.filter((volume) => !allowed.some((type) => volume[type] !== undefined))
  if (bad.length === 0) return undefined
  const types = distinct(bad.map(typeOf))
  const what = plural('restricted volume type', 'restricted volume types', types)
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad)} ${quoted(bad.map(({ name }) => name))} ${plural('uses', 'use', bad)} ${what} ${quoted(types)}`,
  }
}

function typeOf(volume: Volume): string {
  const [type = 'unknown'] = Object.entries(volume).flatMap(([member, value]) =>
    member === 'name' || value === undefined ? [] : [member],
  )
  return type
}

export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  versions: [{ since: 0, check, overrides: ['hostPathVolumes'] }],
}
