import type { Inapplicable } from './inapplicable.ts'

const goneApis = 'asks for a version of an API that upstream has removed'
const realContainers = 'containers have to do real work, which simulated ones do not'

/** Of 1.20 to 1.24. */
export const inapplicable: readonly Inapplicable[] = [
  {
    pattern:
      /^\[sig-(windows|autoscaling|service-catalog)\]|cloud-provider|Multi-AZ|GPU|ulti-Volume|cloud load-balancer/,
    reason: 'needs a cloud, its machines or what a cloud adds',
  },
  {
    pattern: /Network Partition|DaemonRestart|Upgrade|with a private image/,
    reason: 'logs into machines or asks private registries',
  },
  {
    pattern: /update pod when spec was updated and update strategy/,
    reason: 'compares bytes with an empty creationTimestamp, which upstream writes no more since 1.34',
  },
  {
    pattern: /^\[sig-apps\] StatefulSet/,
    except: /recreate evicted|scale subresource|legacy replacement|canary updates/,
    reason: realContainers,
  },
  { pattern: /serve a basic image|same hostPort but different hostIP/, reason: realContainers },
  {
    pattern: /^\[sig-storage\]/,
    except:
      /should be immutable if|EmptyDir wrapper volumes should not|PVC? Protection|non-existent ephemeral storage|Should fail non-optional pod creation/,
    reason: 'mounts volumes into containers, which simulated ones do not have',
  },
  {
    pattern: /^\[sig-network\]/,
    except:
      /secure master service|proxy logs on node|(basic endpoint|multiport endpoints) from pods|Ingress API|IngressClass|NetworkPolicy API|basic SCTP service|endpoints latency|NodePort (out-of-range|collisions)|from listing all namespaces|lifecycle of an Endpoint|single stack service with cluster ip from primary/,
    reason: realContainers,
  },
  { pattern: /prevent Ingress creation if more than 1/, reason: 'more than one default class is no error since 1.26' },
  {
    pattern: /Pod garbage collector/,
    reason: 'expects that no more than 100 ended pods are kept, which are 12500 where upstream is not told otherwise',
  },
  {
    pattern: /^\[k8s\.io\]/,
    except:
      /Lease|delete a collection of pods|readiness gates|NoExecuteTaintManager|InitContainer|busybox command that always fails|activeDeadlineSeconds|get a host IP|lifecycle of Pods|never report success|reject invalid sysctls|TTLAfterFinished|Delete Grace Period|Pods Set QOS|delete 10 pods per node|should be (updated|submitted and removed) \[/,
    reason: realContainers,
  },
  {
    pattern: /^\[sig-node\]/,
    except: /PodTemplates|RuntimeClass/,
    reason: realContainers,
  },
  { pattern: /RuntimeClass with an unconfigured handler/, reason: 'simulated nodes have every runtime handler' },
  {
    pattern: /\[sig-ui\]|^Recreate |Stackdriver|Elasticsearch|Metadata Concealment|Cloud|\bGCE\b/,
    reason: 'needs a cloud or an add-on',
  },
  {
    pattern: /Etcd failure|\[Disruptive\]/,
    except: /NoExecuteTaintManager/,
    reason: 'logs into the machine of the control plane',
  },
  { pattern: /Logging soak/, reason: realContainers },
  { pattern: /MetricsGrabber/, reason: 'looks for pods of the scheduler and the controllers: all is one process here' },
  { pattern: /health handlers/, reason: "lists the start-up hooks of upstream's Go programs by name" },
  {
    pattern: /Events API should ensure that an event can be fetched, patched/,
    reason: 'changes the note of an event, which upstream refuses since 1.21',
  },
  { pattern: /PodSecurityPolicy/, reason: goneApis },
  {
    pattern: /avoid nodes that have avoidPod annotation/,
    reason: "gives a node an alpha annotation that upstream's scheduler looks at no more",
  },
  {
    pattern:
      /\[Feature:Node(Authorizer|Authenticator)\]|a single API token exists|mount an API token into pods|opting out of API token/,
    reason: 'looks for the token secret of a service account, which upstream does not make since 1.24',
  },
  {
    pattern: /BootstrapTokens/,
    reason: 'needs the controllers of bootstrap tokens, which upstream turns off by default',
  },
  {
    pattern: /priority and fairness/,
    reason: 'asks for flowcontrol.apiserver.k8s.io/v1alpha1 or v1beta1, which upstream no longer serves',
  },
  {
    pattern: /kubectl explain works for CR with the same resource name/,
    reason: 'flaky, as upstream says: a short name that kubectl has not cached is not looked up again',
  },
  { pattern: /AdmissionWebhook \[|ConversionWebhook|Aggregator Should/, reason: realContainers },
  {
    pattern: /InClusterConfig|OIDC discovery|projected service account token|RunAsUser or FsGroup/,
    reason: realContainers,
  },
  { pattern: /Secrets should be consumable/, reason: realContainers },
  {
    pattern: /Port forwarding|Simple pod|Kubectl copy|Kubectl logs|Kubectl expose|Guestbook|Update Demo/,
    reason: realContainers,
  },
]
