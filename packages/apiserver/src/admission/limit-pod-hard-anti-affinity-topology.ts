import type { Pod } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { writesPod } from './pods.ts'

const hostname = 'kubernetes.io/hostname'

/** Pods may keep others away from their own node, and from nothing larger. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  validate(attributes, object) {
    if (!writesPod(attributes)) return
    const terms = (object as Pod).spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const other = terms.find(({ topologyKey }) => topologyKey !== hostname)
    if (other === undefined) return
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${hostname} is allowed`
    throw forbiddenByAdmission(attributes, object, why)
  },
}
