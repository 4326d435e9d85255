import type { ManualPages } from '../manual-page.ts'

/** Commands that take nodes out of service and bring them back. */
export const nodePages: ManualPages = {
  cordon: {
    examples: [['no new pods', 'coracle cordon node-1']],
    seeAlso: ['uncordon', 'drain'],
  },
  uncordon: {
    examples: [['new pods again', 'coracle uncordon node-1']],
    seeAlso: ['cordon'],
  },
  drain: {
    details: [
      'It waits where a PodDisruptionBudget lets no further pod go. Pods of DaemonSets stay: --ignore-daemonsets says that this is known. Pods that nobody would replace are only taken with --force.',
    ],
    examples: [
      ['empty a node', 'coracle drain node-1 --ignore-daemonsets'],
      ['what would go', 'coracle drain node-1 --ignore-daemonsets --dry-run=client'],
    ],
    seeAlso: ['uncordon', 'create poddisruptionbudget', 'why'],
  },
  taint: {
    examples: [
      ['only for pods that tolerate it', 'coracle taint node node-1 dedicated=gpu:NoSchedule'],
      ['no longer', 'coracle taint node node-1 dedicated:NoSchedule-'],
    ],
    seeAlso: ['cordon', 'describe'],
  },
}
