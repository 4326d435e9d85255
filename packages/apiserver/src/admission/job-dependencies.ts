import { dependenciesOf, dependencyCycle, findCycle, invalid, type Job, jobs } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { creates } from './stored-objects.ts'

/** Refuses Jobs that would wait for themselves by way of others. What a Job depends on cannot change once it is there. */
export function jobDependencies(registries: Registries): AdmissionPlugin {
  return {
    name: 'JobDependencies',
    concerns: (target) => creates(target, jobs),
    validate({ definition, namespace }, object) {
      if (object === undefined) return
      const { name = '' } = object.metadata
      const own = dependenciesOf(object)
      if (own.length === 0) return
      const stored = registries.byResource('batch', 'v1', 'jobs')
      const follow = (other: string): readonly string[] => {
        const job = stored?.peek(namespace, other)?.object as Job | undefined
        return job === undefined ? [] : dependenciesOf(job)
      }
      const cycle = findCycle(name, own, follow)
      if (cycle !== undefined) throw invalid(definition, name, [dependencyCycle(cycle)])
    },
  }
}
