/** Specs of upstream's that do not apply to a cluster of simulated nodes, and why. The first pattern that fits a spec counts. */
export interface Inapplicable {
  readonly pattern: RegExp
  readonly reason: string
}

const goneApis = 'asks for a version of an API that upstream has removed'
const realContainers = 'containers have to do real work, which simulated ones do not'

export const inapplicable: readonly Inapplicable[] = [
  {
    pattern: /^\[sig-(storage|windows|network|node|apps|autoscaling|scheduling|service-catalog)\]|^\[k8s\.io\]/,
    reason: 'not sorted out yet: name it with --focus and --all',
  },
  {
    pattern: /\[sig-ui\]|^Recreate |Stackdriver|Elasticsearch|Metadata Concealment|Cloud|\bGCE\b/,
    reason: 'needs a cloud or an add-on',
  },
  { pattern: /Etcd failure|\[Disruptive\]/, reason: 'logs into the machine of the control plane' },
  { pattern: /Logging soak/, reason: realContainers },
  { pattern: /MetricsGrabber/, reason: 'looks for pods of the scheduler and the controllers: all is one process here' },
  { pattern: /health handlers/, reason: "lists the start-up hooks of upstream's Go programs by name" },
  {
    pattern: /Events API should ensure that an event can be fetched, patched/,
    reason: 'changes the note of an event, which upstream refuses since 1.21',
  },
  { pattern: /PodSecurityPolicy/, reason: goneApis },
  { pattern: /v1beta1 cronJobs|created by cronjob|relevant information for cronjob/, reason: goneApis },
  {
    pattern:
      /\[Feature:Node(Authorizer|Authenticator)\]|a single API token exists|mount an API token into pods|opting out of API token/,
    reason: 'looks for the token secret of a service account, which upstream does not make since 1.24',
  },
  {
    pattern: /BootstrapTokens/,
    reason: 'needs the controllers of bootstrap tokens, which upstream turns off by default',
  },
  { pattern: /priority and fairness/, reason: 'flow control is left out (docs/decisions/0048-kinds-left-out.md)' },
  {
    pattern: /should support building a client with a CSR/,
    reason: 'gives rights by RBAC objects, which are kept and decide nothing yet',
  },
  {
    pattern: /the original version has been compacted away/,
    reason: 'waits until a list can no longer be continued, which is after ten minutes upstream and later here',
  },
  {
    pattern: /kubectl explain works for CR with the same resource name/,
    reason: 'flaky, as upstream says: a short name that kubectl has not cached is not looked up again',
  },
  { pattern: /AdmissionWebhook \[|ConversionWebhook|Aggregator Should/, reason: realContainers },
  {
    pattern: /InClusterConfig|projected service account token|RunAsUser or FsGroup/,
    reason: realContainers,
  },
  { pattern: /Secrets should be consumable/, reason: realContainers },
  {
    pattern: /Port forwarding|Simple pod|Kubectl copy|Kubectl logs|Kubectl expose|Guestbook|Update Demo/,
    reason: realContainers,
  },
]
