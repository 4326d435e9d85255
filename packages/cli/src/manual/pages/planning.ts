import type { ManualPages } from '../manual-page.ts'

/** Commands that tell what would come of others. */
export const planningPages: ManualPages = {
  plan: {
    details: [
      'Every object that one may list is read, of this or any other Kubernetes, and nothing is written there. In the copy, controllers and scheduler are real and nodes are simulated under their names; pods run on. The command is then carried out there as always, and time passes until nothing comes of it any more.',
      'What is promised: a workload never has fewer ready than its update strategy lets be missing, a disruption budget has what it wants, and a Service that has endpoints keeps one. What was missing before is not missed.',
      'Nobody knows how long containers take and whether they work: say so with --start-delay, --run-time and --fail-rate. Readiness probes have them wait for their initial delay. Webhooks are not asked and autoscalers keep what they have set; both are told of where there are any.',
    ],
    examples: [
      ['what applying a file would do', 'coracle plan -f examples/frontend-controller.yaml'],
      ['whether a node can be emptied now', 'coracle plan drain node-1 --ignore-daemonsets'],
      ['a rollout of which every fifth pod fails', 'coracle plan --fail-rate 20% rollout restart deployment/web'],
      ['a gate in a pipeline', 'coracle plan -o json set image deployment/web web=example/web:2'],
    ],
    exitCodes: {
      0: 'it is safe: what is promised is kept, and all comes to its end',
      1: 'it failed: the command is wrong, or the cluster cannot be read; standard error says why',
      2: 'it is not safe: less would be available than is promised, or it would be refused, blocked or not come to its end',
    },
    seeAlso: ['apply', 'diff', 'why', 'rollout restart', 'drain'],
  },
}
