import { Time } from "../../parts/time.tsx";

export function Seen({ first, last }: { first: string; last: string }) {
  if (first === last) {
    return (
      <span>
        seen <Time at={last} />
      </span>
    );
  }
  return (
    <span>
      first <Time at={first} />, last <Time at={last} />
    </span>
  );
}
