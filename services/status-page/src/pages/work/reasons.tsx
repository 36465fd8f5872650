import type { WorkView } from "@unacked/contracts";
import table from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import css from "./work.module.css";

/** Why it could not be done to some. */
export function Reasons({ refused }: Pick<WorkView, "refused">) {
  return (
    <section aria-labelledby="reasons">
      <h2 id="reasons" className={css.title}>
        Why some were refused
      </h2>
      {/* Focusable, as a wide one scrolls. */}
      <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Reasons">
        <table className={`${table.table} ${table.lined} ${css.reasons} figures`}>
          <thead>
            <tr>
              <th scope="col">Why</th>
              <th scope="col" className={css.count}>
                How many
              </th>
              <th scope="col">What to do</th>
              <th scope="col">Among them</th>
            </tr>
          </thead>
          <tbody>
            {refused.map(({ code, title, remedy, count, names }) => (
              <tr key={code}>
                <th scope="row">{title}</th>
                <td className={css.count}>{sayCount(count)}</td>
                <td>{remedy}</td>
                <td>
                  {names.map((name, place) => (
                    <span key={name}>
                      {place > 0 && ", "}
                      <Link href={addressOfObserver(name)}>{name}</Link>
                    </span>
                  ))}
                  {count > names.length && " …"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
