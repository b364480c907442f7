import { connect } from 'node:net';

/** A response, parsed from the bytes of the connection. */
export interface RawHttp {
  status: number;
  headers: Headers;
  body: string;
}

/** Sends bytes unchanged and reads until the server closes the connection, which the request has to demand. */
export async function sendRaw(url: string, bytes: string): Promise<RawHttp> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(60_000, () => socket.destroy(new Error(`No end of the answer to ${bytes}`)));
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk);
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = new Headers();
  for (const field of fields)
    headers.append(field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1));
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}
