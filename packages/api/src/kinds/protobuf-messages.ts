import { admissionregistrationMessages } from './admissionregistration/protobuf.ts'
import { apiextensionsMessages } from './apiextensions/protobuf.ts'
import { apiregistrationMessages } from './apiregistration/protobuf.ts'
import { appsMessages } from './apps/protobuf.ts'
import { authenticationMessages } from './authentication/protobuf.ts'
import { authorizationMessages } from './authorization/protobuf.ts'
import { autoscalingMessages } from './autoscaling/protobuf.ts'
import { batchMessages } from './batch/protobuf.ts'
import { certificatesMessages } from './certificates/protobuf.ts'
import { coordinationMessages } from './coordination/protobuf.ts'
import { coreMessages } from './core/protobuf.ts'
import { discoveryMessages } from './discovery/protobuf.ts'
import { eventsMessages } from './events/protobuf.ts'
import { flowcontrolMessages } from './flowcontrol/protobuf.ts'
import { metaMessages } from './meta/protobuf.ts'
import { networkingMessages } from './networking/protobuf.ts'
import { nodeMessages } from './node/protobuf.ts'
import { policyMessages } from './policy/protobuf.ts'
import { rbacMessages } from './rbac/protobuf.ts'
import { resourceMessages } from './resource/protobuf.ts'
import { schedulingMessages } from './scheduling/protobuf.ts'
import { storageMessages } from './storage/protobuf.ts'

/**
 * Which number a field has in upstream's protobuf messages: what `generated.proto` of k8s.io/api and
 * k8s.io/apimachinery say (Kubernetes 1.36), a message a line, by the JSON names of the fields.
 *
 * - Fields stand in the order of their numbers. The first is 1 and each is one more than the one before, unless it
 *   says another: `4:optional` is 4.
 * - `...LocalObjectReference` is a field as well: it holds a message whose fields stand beside the others in JSON, a
 *   struct that is embedded in Go.
 * - A list that is a value of a map stands in a message of its own, as its field 1.
 * - `creationTimestamp!` says that a time is written even where it is none (in Go it is no pointer). Of other fields the schema
 *   says whether they are pointers.
 */
export const protobufMessages: Readonly<Record<string, string>> = {
  ...admissionregistrationMessages,
  ...apiextensionsMessages,
  ...apiregistrationMessages,
  ...appsMessages,
  ...authenticationMessages,
  ...authorizationMessages,
  ...autoscalingMessages,
  ...batchMessages,
  ...certificatesMessages,
  ...coordinationMessages,
  ...coreMessages,
  ...discoveryMessages,
  ...eventsMessages,
  ...flowcontrolMessages,
  ...metaMessages,
  ...networkingMessages,
  ...nodeMessages,
  ...policyMessages,
  ...rbacMessages,
  ...resourceMessages,
  ...schedulingMessages,
  ...storageMessages,
}
