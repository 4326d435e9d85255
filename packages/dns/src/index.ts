/** A DNS server for the names of services. */

export { type ClusterDns, type ClusterDnsOptions, createClusterDns } from './cluster-dns.ts'
export type { Exchange, Server } from './forward/exchange.ts'
export type { Listening, ListensAt } from './server/listening.ts'
