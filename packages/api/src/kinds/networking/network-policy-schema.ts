import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  int32,
  intOrString,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { labelSelector } from '../core/common.ts'
import { networkingV1 } from './names.ts'

export interface IpBlock extends Infer<typeof ipBlock> {}
export const ipBlock = object(`${networkingV1}.IPBlock`, 'A range of addresses, with exceptions.', {
  cidr: required(string(), 'The range, such as 192.168.0.0/24.'),
  except: optional(atomicList(string()), 'Ranges within it that are not meant.'),
})

export interface NetworkPolicyPeer extends Infer<typeof networkPolicyPeer> {}
export const networkPolicyPeer = object(`${networkingV1}.NetworkPolicyPeer`, 'The other end of a connection.', {
  podSelector: optional(labelSelector, 'Pods, in the namespace of the policy unless namespaceSelector is there.'),
  namespaceSelector: optional(labelSelector, 'Namespaces: all their pods, or those that podSelector picks.'),
  ipBlock: optional(ipBlock, 'Addresses. Not together with the selectors.'),
})

export interface NetworkPolicyPort extends Infer<typeof networkPolicyPort> {}
export const networkPolicyPort = object(`${networkingV1}.NetworkPolicyPort`, 'A port, or a range of ports.', {
  protocol: pointer(literal<'TCP' | 'UDP' | 'SCTP'>(), 'TCP unless set, UDP or SCTP.', { default: 'TCP' }),
  port: optional(intOrString, 'Number or name of the port; all ports unless set.'),
  endPort: pointer(int32(), 'The last port of a range that begins with port.'),
})

export interface NetworkPolicyIngressRule extends Infer<typeof networkPolicyIngressRule> {}
export const networkPolicyIngressRule = object(
  `${networkingV1}.NetworkPolicyIngressRule`,
  'Ports that may be connected to, and the peers that may.',
  {
    ports: optional(atomicList(networkPolicyPort), 'To which ports; to all unless set.'),
    from: optional(atomicList(networkPolicyPeer), 'From where; from anywhere unless set.'),
  },
)

export interface NetworkPolicyEgressRule extends Infer<typeof networkPolicyEgressRule> {}
export const networkPolicyEgressRule = object(
  `${networkingV1}.NetworkPolicyEgressRule`,
  'Ports and peers that pods may connect to.',
  {
    ports: optional(atomicList(networkPolicyPort), 'To which ports; to all unless set.'),
    to: optional(atomicList(networkPolicyPeer), 'Where to; anywhere unless set.'),
  },
)

export interface NetworkPolicySpec extends Infer<typeof networkPolicySpec> {}
export const networkPolicySpec = object(
  `${networkingV1}.NetworkPolicySpec`,
  'Pods, and the connections that they may have.',
  {
    podSelector: optional(labelSelector, 'The pods that the policy is about; all of the namespace where it is empty.', {
      default: {},
      byValue: true,
    }),
    ingress: optional(atomicList(networkPolicyIngressRule), 'Connections to the pods that are allowed.'),
    egress: optional(atomicList(networkPolicyEgressRule), 'Connections from the pods that are allowed.'),
    policyTypes: optional(
      atomicList(literal<'Ingress' | 'Egress'>()),
      'Which directions the policy is about: Ingress, and Egress where there are rules for it, unless set.',
    ),
  },
)

/** Which connections pods may have. */
export interface NetworkPolicy extends Infer<typeof networkPolicySchema> {}
export const networkPolicySchema = kindSchema(
  `${networkingV1}.NetworkPolicy`,
  'Which connections pods may have. Pods that no policy is about may have any.',
  { spec: optional(networkPolicySpec, 'Which connections are allowed.', { default: {} }) },
)
