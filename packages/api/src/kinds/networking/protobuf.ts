/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const networkingMessages = {
  'io.k8s.api.networking.v1': `
HTTPIngressPath: path backend pathType
HTTPIngressRuleValue: paths
IPAddress: metadata spec
IPAddressSpec: parentRef
IPBlock: cidr except
Ingress: metadata spec status
IngressBackend: 3:resource service
IngressClass: metadata spec
IngressClassParametersReference: apiGroup kind name scope namespace
IngressClassSpec: controller parameters
IngressLoadBalancerIngress: ip hostname 4:ports
IngressLoadBalancerStatus: ingress
IngressPortStatus: port protocol error
IngressRule: host ...IngressRuleValue
IngressRuleValue: http
IngressServiceBackend: name port
IngressSpec: defaultBackend tls rules ingressClassName
IngressStatus: loadBalancer
IngressTLS: hosts secretName
NetworkPolicy: metadata spec
NetworkPolicyEgressRule: ports to
NetworkPolicyIngressRule: ports from
NetworkPolicyPeer: podSelector namespaceSelector ipBlock
NetworkPolicyPort: protocol port endPort
NetworkPolicySpec: podSelector ingress egress policyTypes
ParentReference: group resource namespace name
ServiceBackendPort: name number
ServiceCIDR: metadata spec status
ServiceCIDRSpec: cidrs
ServiceCIDRStatus: conditions
`,
} as const
