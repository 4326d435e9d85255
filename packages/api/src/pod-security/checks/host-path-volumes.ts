import type { Check, PodCheck } from '../check.ts'
import { plural, quoted } from '../wording.ts'

const check: PodCheck = ({ spec: { volumes = [] } }) => {
  const bad = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name)
  if (bad.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', bad)} ${quoted(bad)}` }
}

export const hostPathVolumes: Check = { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, check }] }
