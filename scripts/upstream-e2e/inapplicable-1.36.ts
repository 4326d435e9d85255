import type { Inapplicable } from './inapplicable.ts'

const realContainers = 'containers have to do real work, which simulated ones do not'

/** Of 1.25 and later, as of 1.36. */
export const inapplicable: readonly Inapplicable[] = [
  { pattern: /\[Feature:OffByDefault\]|\[Alpha\]/, reason: 'is about a feature that upstream leaves off' },
  { pattern: /^\[sig-windows\]|\[Feature:Windows\]/, reason: 'needs nodes with Windows' },
  {
    pattern: /^\[sig-(cloud-provider|cloud-provider-gcp)\]|Multi-AZ|cloud load-balancer|\[Feature:LoadBalancer\]/,
    except: /load balancer cleanup finalizer/,
    reason: 'needs a cloud, its machines or what a cloud adds',
  },
  {
    pattern: /\[Feature:(ClusterSizeAutoscaling\w+|ClusterScaleUpBypassScheduler|KubeDNSAutoscaler|GPUDevicePlugin)\]/,
    reason: 'needs an add-on, or a cloud that adds machines',
  },
  {
    pattern:
      /\[Feature:\w*(Upgrade|Downgrade)\]|\[Feature:(HAMaster|Reboot|KubeletSecurity)\]|master upgrade|DaemonRestart|with a private image/,
    reason: 'logs into machines or asks private registries',
  },
  {
    pattern: /\[Feature:BootstrapTokens\]/,
    reason: 'needs the controllers of bootstrap tokens, which upstream turns off by default',
  },
  {
    pattern:
      /^\[sig-api-machinery\] (AdmissionWebhook|Aggregator Should|CustomResourceConversionWebhook|CustomResourceFieldSelectors|.*sample-apiserver|.*for Aggregated APIServer)/,
    except: /match conditions|discovery documents/,
    reason: realContainers,
  },
  { pattern: /^\[sig-apps\].*(serve a basic image|Deploy clustered applications)/, reason: realContainers },
  {
    pattern:
      /StatefulSet.*(basic identity|adopt matching orphans|predecessor fails|rolling updates and roll backs|halt if any|Burst scaling)|surge pods onto nodes/,
    reason: `${realContainers}: commands that run in them decide whether they are ready`,
  },
  {
    pattern: /StatefulSet.*PVC should be recreated when pod is pending/,
    reason:
      'expects a pod that it has just deleted to be there still or again, and simulated containers stop before it looks',
  },
  {
    pattern:
      /Job.*(pod failure policy (on exit code|to ignore)|sometimes fail and are (not )?locally|restarted by container restart policy|only after they have failed)/,
    reason: `${realContainers}: scripts look at files or handle signals to decide how they end`,
  },
  {
    pattern:
      /^\[sig-auth\].*(NodeAuthenticator|OIDC discovery of|mount an API token|mount projected|RunAsUser or FsGroup|InClusterConfig|restrict access by-node)/,
    reason: realContainers,
  },
  {
    pattern: /^\[sig-auth\].*opting out of API token automount/,
    reason:
      'looks for the volume of a token in pods of the account default (docs/decisions/0057-tokens-for-accounts-of-their-own.md)',
  },
  {
    pattern: /^\[sig-auth\] SelfSubjectReview.*(v1beta1|SelfSubjectReview API operations)/,
    reason: 'asks for the alpha or beta version of an API, which upstream leaves off',
  },
  { pattern: /^\[sig-autoscaling\] \[Feature:HPA\]/, reason: realContainers },
  {
    pattern:
      /^\[sig-cli\] (Kubectl (Port forwarding|exec|logs)|Kubectl client (Guestbook|Update Demo|Kubectl copy|Simple pod))/,
    except: /--leave-stdin-open|running a successful command/,
    reason: `${realContainers}: they print, take connections or run commands`,
  },
  {
    pattern: /kubectl explain works for CR with the same resource name/,
    reason:
      'asks kubectl for a new short name, which it does not find where it has stored what it discovered for an earlier spec',
  },
  {
    pattern: /^\[sig-instrumentation\] Logging soak/,
    reason: `${realContainers}: they print`,
  },
  {
    pattern: /^\[sig-instrumentation\].*from (a Kubelet|kubelet)/,
    reason:
      "asks for a node's agent at a port of its own, and those of simulated nodes are reached through the server alone",
  },
  {
    pattern: /^\[sig-api-machinery\] health handlers/,
    reason: "names health checks after the parts of upstream's server in Go",
  },
  {
    pattern: /^\[sig-api-machinery\] StorageVersion resources/,
    reason: 'asks for the alpha or beta version of an API, which upstream leaves off',
  },
  {
    pattern: /^\[sig-storage\]/,
    except:
      /should be immutable if|Protection|API operations|run through the lifecycle|apply changes to a|non-existent ephemeral storage|Retroactive StorageClass|CSIVolumeSource in Pod API|Should fail non-optional pod creation|EmptyDir wrapper volumes should not/,
    reason: 'mounts volumes into containers, which simulated ones do not have',
  },
  { pattern: /\[Feature:IPv6DualStack\]/, except: /single stack service/, reason: 'needs nodes with two addresses' },
  {
    pattern: /^\[sig-network\]/,
    except:
      /API Server|EndpointSlice should create|load balancer cleanup finalizer|proxy logs on node|EndpointSliceMirroring.*create update|Endpoints(Controller)? should|API operations|NetworkPolicy API|IngressClass|static URL paths|single stack service|Services should (check NodePort|complete a service status|delete a collection|find a service|prevent NodePort)|SCTP (service|HostPort)|endpoints latency/,
    reason: realContainers,
  },
  { pattern: /^\[sig-node\].*Feature:NodeLogQuery/, reason: 'reads logs of the machine' },
  {
    pattern: /Events should be sent by kubelets|should not create extra sandbox/,
    reason: 'simulated nodes record warnings alone',
  },
  {
    pattern: /RuntimeClass should (run a Pod|reject a Pod requesting a RuntimeClass with an unconfigured handler)/,
    reason: 'simulated nodes have every runtime handler',
  },
  {
    pattern: /Pod garbage collector/,
    reason: 'expects that no more than 100 ended pods are kept, which are 12500 where upstream is not told otherwise',
  },
  { pattern: /evicted pods should be terminal/, reason: realContainers },
  {
    pattern: /Clean up pods on node/,
    reason: 'watches the resident memory of nodes, which simulated ones do not tell, and ends without it',
  },
  {
    pattern: /^\[sig-node\]/,
    except:
      /PodTemplates|NoExecuteTaintManager|FileKeyRef .* should fail|hostnameOverride .*will fail to be created|\[DRA\] (CRUD|control plane)|Resize Container \((resource-quota|limit-ranger)\).*(exceed|below min)|RuntimeClass|Leases?\b|NodeLease|Node Lifecycle|ConfigMap (should (fail|run|update))|Secrets should (fail|patch)|InitContainer \[|busybox command that always fails|Lifecycle (Sleep Hook|sleep action zero)|container restart policy\)|PodOSRejection|PodRejectionStatus|Pods Extended|Pods should (allow|be|delete|get|patch|run|support pod)|should not run with an explicit root|Sysctls.*(not launch|reject)/,
    reason: realContainers,
  },
]
