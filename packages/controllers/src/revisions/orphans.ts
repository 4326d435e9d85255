import type { ControllerRevision } from '@coracle/api'
import type { IndexFunction } from '@coracle/client'
import { controllerOf, filedByLabels } from '@coracle/controller-runtime'

/** Files a revision that can be adopted under its labels, in the index that orphans have. */
export const orphanRevisionsByLabels: IndexFunction<ControllerRevision> = (revision) =>
  controllerOf(revision) === undefined ? filedByLabels(revision) : []
